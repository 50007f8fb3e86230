/* Chains of made-up stacks, each frame known before. */
#include "made_cfi.h"

#include <errno.h>
#include <stdbool.h>
#include <tally/abi.h>
#include "unwind/unwind_state.h"

#define STACK_AT 0x7ff000
#define IMAGE_AT 0x3000 /* bytes of the program that can be read: `code` */

struct scene {
	struct made made;
	struct tally_cfi *cfi;
	uint64_t stack[64];
	uint64_t values[24]; /* x86-64: by perf's numbers, all but segments, as mask has them */
	uint8_t code[64];
	struct tally_unwind_start start;
	struct tally_unwind_world world;
};

/* The program is what the section describes, and 0x1800..0x4000 besides; there is nothing else. */
static const struct cfi_rules *find_code(void *context, uint64_t address)
{
	const struct scene *scene = context;
	const struct cfi_rules *rules = tally_cfi_find(scene->cfi, address);

	return rules != &tally_cfi_none || (address >= 0x1800 && address < 0x4000) ? rules : NULL;
}

/* Code can be read; of what is mapped above the stack nothing is known. */
static int read_image(void *context, uint64_t address, void *ret, size_t size)
{
	const struct scene *scene = context;

	memset(ret, 0, size);
	if (size <= sizeof(scene->code) && address >= IMAGE_AT &&
	    address - IMAGE_AT <= sizeof(scene->code) - size) {
		memcpy(ret, scene->code + (address - IMAGE_AT), size);
		return 0;
	}
	return address >= STACK_AT && address < STACK_AT + 0x10000 ? 1 : -ENOENT;
}

/* AX..IP and R8..R15. */
#define X86_MASK 0xff01ffULL
enum { AX, BX, CX, DX, SI, DI, BP, SP, IP, R8, R12 = R8 + 4 };

static void set_up(struct scene *scene, uint64_t ip)
{
	*scene = (struct scene){
	    .start = {.arch = TALLY_UNWIND_X86_64,
		      .mask = X86_MASK,
		      .values = scene->values,
		      .stack = (const uint8_t *)scene->stack,
		      .stack_size = sizeof(scene->stack)},
	    .world = {.context = scene, .code = find_code, .read = read_image},
	};
	scene->values[SP] = STACK_AT;
	scene->values[IP] = ip;
	made_common(&scene->made, "zR");
}

static void expect(struct scene *scene, const uint64_t *frames, uint32_t count)
{
	uint64_t found[32];
	uint32_t found_count;

	scene->cfi = made_table(&scene->made);
	found_count = tally_unwind(&scene->start, &scene->world, found, 32);
	assert_int_equal(found_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(found[i], frames[i]);
	tally_cfi_free(scene->cfi);
}

#define EXPECT(scene, ...) \
	expect(scene, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* 0x1100: the outermost function. */
static void add_outermost(struct scene *scene)
{
	static const uint8_t undefined[] = {0x07, 0x10};

	made_function(&scene->made, 0x1100, 0x20, undefined, sizeof(undefined));
}

static void callers_are_found_by_the_stack_pointer(void **state)
{
	static const uint8_t offset[] = {0x0e, 24};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1010);
	made_function(&scene.made, 0x1000, 0x40, offset, sizeof(offset));
	made_function(&scene.made, 0x1040, 0x10, NULL, 0);
	add_outermost(&scene);
	scene.stack[2] = 0x1050; /* behind a call that is the last of 0x1040..0x1050 */
	scene.stack[3] = 0x1108;
	EXPECT(&scene, 0x1010, 0x104f, 0x1107);
}

static void callers_are_found_by_saved_registers(void **state)
{
	/* rbp and r12 are saved, CFA is by rbp; then a function whose CFA is by r12. */
	static const uint8_t inner[] = {0x0c, 6, 16, 0x86, 2, 0x8c, 3};
	static const uint8_t by_r12[] = {0x0c, 12, 8};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, inner, sizeof(inner));
	made_function(&scene.made, 0x1040, 0x10, by_r12, sizeof(by_r12));
	add_outermost(&scene);
	scene.values[BP] = STACK_AT + 0x80;
	scene.stack[0x80 / 8] = 0x1234;          /* rbp of the caller */
	scene.stack[0x78 / 8] = STACK_AT + 0xa0; /* its r12 */
	scene.stack[0x88 / 8] = 0x1045;
	scene.stack[0xa0 / 8] = 0x1109;
	EXPECT(&scene, 0x1004, 0x1044, 0x1108);
}

static void who_was_interrupted_is_not_looked_up_before_its_address(void **state)
{
	/* CFA is what stands at rsp+16: as a kernel's signal frame. */
	static const uint8_t frame[] = {0x0f, 3, 0x77, 16, 0x06, 0x10, 0x10, 2, 0x77, 8};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1000);
	scene.made.size = 0;
	made_common(&scene.made, "zRS");
	made_function(&scene.made, 0x1000, 0x10, frame, sizeof(frame));
	made_common(&scene.made, "zR");
	made_function(&scene.made, 0x1040, 0x10, NULL, 0);
	add_outermost(&scene);
	scene.stack[1] = 0x1040; /* interrupted at its first instruction */
	scene.stack[2] = STACK_AT + 0x40;
	scene.stack[8] = 0x1101;
	EXPECT(&scene, 0x1000, 0x1040, 0x1100);
}

/* What the kernel writes for a signal: a return address, struct ucontext from there on. */
static void add_signal(struct scene *scene, size_t at, uint64_t pc, uint64_t sp)
{
	uint64_t *registers = &scene->stack[at + 1 + 5];

	registers[10] = 0x1234; /* rbp */
	registers[15] = sp;
	registers[16] = pc;
	registers[18] = 0x2b000000000033; /* cs, gs, fs, ss */
}

static void registers_are_the_saved_ones_when_a_signal_is_about_to_be_handled(void **state)
{
	static const uint8_t offset[] = {0x0e, 24};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1010);
	made_function(&scene.made, 0x1000, 0x40, offset, sizeof(offset));
	add_outermost(&scene);
	scene.stack[2] = 0x1050; /* as if it were its frame */
	add_signal(&scene, 0, 0x1010, STACK_AT + 0x130);
	scene.stack[0x130 / 8 + 2] = 0x1105;
	EXPECT(&scene, 0x1010, 0x1104);
	/* perf takes what it gets. */
	scene.start.as_perf = true;
	made_function(&scene.made, 0x1040, 0x20, NULL, 0);
	scene.stack[3] = 0x1101;
	EXPECT(&scene, 0x1010, 0x104f, 0x1100);
	/* The context of other code is not used. */
	scene.start.as_perf = false;
	add_signal(&scene, 0, 0x1011, STACK_AT + 0x130);
	EXPECT(&scene, 0x1010, 0x104f, 0x1100);
}

static void a_handler_returns_to_code_without_rules_that_restores_the_registers(void **state)
{
	/* As Go's runtime and musl have it; Go's rules say that it is a function like any other. */
	static const char *const codes[] = {"\xb8\x0f\0\0\0\x0f\x05",
					    "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"};
	static const uint8_t offset[] = {0x0e, 24};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		set_up(&scene, 0x1010);
		memcpy(scene.code, codes[i % 2], i % 2 ? 9 : 7);
		made_function(&scene.made, 0x1000, 0x40, offset, sizeof(offset));
		if (i / 2)
			made_function(&scene.made, IMAGE_AT, 0x10, NULL, 0);
		add_outermost(&scene);
		scene.stack[2] = IMAGE_AT;
		/* Interrupted at its first instruction. */
		add_signal(&scene, 2, 0x1100, STACK_AT + 0x130);
		EXPECT(&scene, 0x1010, IMAGE_AT, 0x1100);
		/* Nothing that a signal saved is there. */
		scene.stack[2 + 1 + 5 + 18] = 0;
		if (i / 2)
			EXPECT(&scene, 0x1010, IMAGE_AT - 1);
	}
}

static void a_handler_that_has_half_returned_has_no_caller(void **state)
{
	/* CFA is the rsp of the context, and all of it is relative to that. */
	static const uint8_t frame[] = {0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 0x10, 3, 0x77, 0xa8, 1};
	struct scene scene;

	(void)state;
	set_up(&scene, IMAGE_AT + 9);
	memcpy(scene.code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	scene.made.size = 0;
	made_common(&scene.made, "zRS");
	made_function(&scene.made, IMAGE_AT, 0x10, frame, sizeof(frame));
	made_common(&scene.made, "zR");
	add_outermost(&scene);
	scene.stack[0xa0 / 8] = STACK_AT + 0x130;
	scene.stack[0xa8 / 8] = 0x1105;
	scene.stack[0xb8 / 8] = 0x1234;
	EXPECT(&scene, IMAGE_AT + 9);
	scene.stack[0xb8 / 8] = 0x33;
	EXPECT(&scene, IMAGE_AT + 9, 0x1105);
}

static void rules_without_a_return_address_end_the_chain(void **state)
{
	/* CFA is rdx; where the return address is, is not said. */
	static const uint8_t exchanged[] = {0x0c, 1, 0, 0x08, 0x10};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, exchanged, sizeof(exchanged));
	scene.values[DX] = STACK_AT + 0x80;
	EXPECT(&scene, 0x1004);
}

static void the_chain_ends_where_the_stack_that_was_kept_does(void **state)
{
	static const uint8_t offset[] = {0x0e, 0x40};
	struct scene scene;

	(void)state;
	/* The word is the last one: perf leaves that out; what is there is not known, but mapped.
	 */
	set_up(&scene, 0x1000);
	made_function(&scene.made, 0x1000, 0x10, offset, sizeof(offset));
	scene.start.stack_size = 0x40;
	scene.start.as_perf = true;
	scene.stack[7] = 0x1005;
	EXPECT(&scene, 0x1000, UINT64_MAX);
	/* Else it is used, and of what is behind it nothing is known. */
	scene.start.as_perf = false;
	EXPECT(&scene, 0x1000, 0x1004);
	/* Nothing is mapped there. */
	set_up(&scene, 0x1000);
	made_function(&scene.made, 0x1000, 0x10, offset, sizeof(offset));
	scene.start.stack_size = 0x40;
	scene.values[SP] = 0x10;
	EXPECT(&scene, 0x1000);
}

static void code_of_no_image_ends_the_chain(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene, 0x9000);
	EXPECT(&scene, 0x9000);
	set_up(&scene, 0x1000);
	made_function(&scene.made, 0x1000, 0x10, NULL, 0);
	scene.stack[0] = 0x9000;
	EXPECT(&scene, 0x1000);
	scene.start.as_perf = true;
	EXPECT(&scene, 0x1000, 0x8fff);
}

static void without_information_the_frame_pointer_is_tried(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene, 0x2000);
	add_outermost(&scene);
	scene.values[BP] = STACK_AT + 0x20;
	scene.stack[4] = STACK_AT + 0x40;
	scene.stack[5] = 0x2100;
	scene.stack[8] = STACK_AT + 0x60;
	scene.stack[9] = 0x1108;
	EXPECT(&scene, 0x2000, 0x20ff, 0x1107);
	/* Not one that points below, far above, or nowhere. */
	set_up(&scene, 0x2000);
	add_outermost(&scene);
	scene.values[BP] = STACK_AT - 8;
	EXPECT(&scene, 0x2000);
	scene.values[BP] = STACK_AT + 0x4008;
	EXPECT(&scene, 0x2000);
	scene.values[BP] = 0;
	EXPECT(&scene, 0x2000);
}

static void stubs_into_libraries_have_but_a_return_address(void **state)
{
	static const uint8_t stub[] = {0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0};
	struct scene scene;

	(void)state;
	set_up(&scene, IMAGE_AT + 8);
	memcpy(scene.code + 8, stub, sizeof(stub));
	add_outermost(&scene);
	scene.stack[0] = 0x1108;
	EXPECT(&scene, IMAGE_AT + 8, 0x1107);
	scene.start.as_perf = true;
	EXPECT(&scene, IMAGE_AT + 8, 0x1107);
}

/* 15.2: code of no compiler's description, interrupted where its frame is half made. */
static void a_frame_pointer_that_is_not_set_yet_is_not_used(void **state)
{
	static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3};
	struct scene scene;

	(void)state;
	/* push %rbp: the return address is on top. */
	set_up(&scene, IMAGE_AT + 4);
	memcpy(scene.code, code, sizeof(code));
	made_function(&scene.made, 0x1040, 0x10, NULL, 0);
	add_outermost(&scene);
	scene.values[BP] = STACK_AT + 0x40;
	scene.stack[0] = 0x1045;
	scene.stack[1] = 0x1108;
	EXPECT(&scene, IMAGE_AT + 4, 0x1044, 0x1107);
	/* mov %rsp,%rbp: the caller's frame pointer is above it. */
	scene.values[IP] = IMAGE_AT + 5;
	scene.stack[0] = STACK_AT + 0x40;
	scene.stack[1] = 0x1045;
	scene.stack[2] = 0x1108;
	EXPECT(&scene, IMAGE_AT + 5, 0x1044, 0x1107);
	/* In the body the frame pointer shows where. The caller's stack pointer is known then. */
	scene.values[IP] = IMAGE_AT + 8;
	scene.values[BP] = STACK_AT + 0x20;
	scene.stack[5] = 0x1045;
	scene.stack[6] = 0x1108;
	EXPECT(&scene, IMAGE_AT + 8, 0x1044, 0x1107);
	/* ret */
	scene.values[IP] = IMAGE_AT + 9;
	scene.values[BP] = 0;
	scene.stack[0] = 0x1045;
	scene.stack[1] = 0x1108;
	EXPECT(&scene, IMAGE_AT + 9, 0x1044, 0x1107);
}

/* 15.2: at a function's end GCC says that the CFA is by the stack pointer, and leaves the rules of
 * registers that were popped. */
static void registers_below_the_stack_pointer_are_the_callers_already(void **state)
{
	static const uint8_t at_return[] = {0x0c, 7, 8, 0x86, 2, 0x83, 3};
	static const uint8_t by_frame[] = {0x0c, 6, 16};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, at_return, sizeof(at_return));
	made_function(&scene.made, 0x1040, 0x10, by_frame, sizeof(by_frame));
	add_outermost(&scene);
	scene.stack[0] = 0x1045;
	scene.values[BP] = STACK_AT + 0x20;
	scene.stack[5] = 0x1108;
	EXPECT(&scene, 0x1004, 0x1044, 0x1107);
	/* perf reads what the copy does not have. */
	scene.start.as_perf = true;
	EXPECT(&scene, 0x1004, 0x1044);
}

/* 15.2: _init of crti.o, as it calls what an object put into .init. */
static void the_caller_of_init_is_found_without_rules(void **state)
{
	/* sub $8,%rsp; call; add $8,%rsp; ret */
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0xe8, 0,    0,
				       0,    0,    0x48, 0x83, 0xc4, 0x08, 0xc3};
	struct scene scene;

	(void)state;
	for (uint64_t pointer = 0; pointer < 2; pointer++) {
		set_up(&scene, 0x1004);
		memcpy(scene.code, code, sizeof(code));
		made_function(&scene.made, 0x1000, 0x10, NULL, 0);
		add_outermost(&scene);
		scene.values[BP] = pointer;
		scene.stack[0] = IMAGE_AT + 9;
		scene.stack[2] = 0x1108;
		EXPECT(&scene, 0x1004, IMAGE_AT + 8, 0x1107);
	}
}

/* In code at IMAGE_AT so many words are between the stack pointer and the return address; the
 * caller's frame pointer, by which its rules go, is in a word of the stack or unchanged. */
static void expect_words(const uint8_t *code, size_t size, uint64_t at, unsigned words, int pointer)
{
	static const uint8_t by_pointer[] = {0x0c, 6, 16};
	struct scene scene;

	set_up(&scene, IMAGE_AT + at);
	memcpy(scene.code, code, size);
	made_function(&scene.made, 0x1040, 0x10, by_pointer, sizeof(by_pointer));
	add_outermost(&scene);
	scene.values[BP] = STACK_AT + 0x100;
	if (pointer >= 0) {
		scene.values[BP] = STACK_AT + 8 * (uint64_t)pointer;
		scene.stack[pointer] = STACK_AT + 0x100;
	}
	scene.stack[words] = 0x1045;
	scene.stack[0x108 / 8] = 0x1108;
	EXPECT(&scene, IMAGE_AT + at, 0x1044, 0x1107);
}
#define WORDS(at, words, pointer) expect_words(code, sizeof(code), at, words, pointer)

/* 15.1: what crtbegin.o and crti.o bring has no rules; at each instruction the code says it. */
static void code_without_rules_is_followed_to_its_return(void **state)
{
	/* As __do_global_dtors_aux, with what it calls. */
	static const uint8_t code[] = {
	    0xf3, 0x0f, 0x1e, 0xfa,                /* 0: endbr64 */
	    0x80, 0x3d, 0,    0,    0,    0, 0,    /* 4: cmpb $0,...(%rip) */
	    0x75, 0x1a,                            /* 11: jne 39 */
	    0x55,                                  /* 13: push %rbp */
	    0x48, 0x83, 0x3d, 0,    0,    0, 0, 0, /* 14: cmpq $0,...(%rip) */
	    0x48, 0x89, 0xe5,                      /* 22: mov %rsp,%rbp */
	    0x74, 0x02,                            /* 25: je 29 */
	    0xff, 0xd0,                            /* 27: call *%rax */
	    0xe8, 0x06, 0,    0,    0,             /* 29: call 40 */
	    0x90, 0x90, 0x90,                      /* 34 */
	    0x5d, 0xc3,                            /* 37: pop %rbp; ret */
	    0xc3,                                  /* 39: ret */
	    0x48, 0x85, 0xc0,                      /* 40: test %rax,%rax */
	    0x74, 0x02,                            /* 43: je 47 */
	    0xff, 0xe0,                            /* 45: jmp *%rax */
	    0xc3,                                  /* 47: ret */
	    0x48, 0x83, 0xec, 0x08,                /* 48: sub $8,%rsp */
	    0x48, 0x83, 0xc4, 0x08, 0xc3,          /* 52: add $8,%rsp; ret */
	};

	(void)state;
	WORDS(0, 0, -1);
	WORDS(4, 0, -1);
	WORDS(11, 0, -1);
	WORDS(13, 0, -1);
	/* The word that was pushed is the caller's frame pointer, as the register yet. */
	WORDS(14, 1, 0);
	WORDS(22, 1, 0);
	WORDS(25, 1, 0);
	WORDS(27, 1, 0);
	WORDS(29, 1, 0);
	WORDS(34, 1, 0);
	WORDS(37, 1, 0);
	WORDS(38, 0, -1);
	WORDS(39, 0, -1);
	WORDS(40, 0, -1);
	WORDS(43, 0, -1);
	WORDS(47, 0, -1);
	WORDS(48, 0, -1);
	WORDS(52, 1, -1);
	WORDS(56, 0, -1);
}

/* 15.1: lld writes no rules for the table of stubs. */
static void stubs_are_followed_to_what_they_jump_to(void **state)
{
	static const uint8_t code[] = {
	    0xff, 0x35, 0,    0x10, 0,    0, /* 0: push ...(%rip) */
	    0xff, 0x25, 0x02, 0x10, 0,    0, /* 6: jmp *...(%rip) */
	    0x0f, 0x1f, 0x40, 0,             /* 12 */
	    0xff, 0x25, 0,    0x10, 0,    0, /* 16: jmp *...(%rip) */
	    0x68, 1,    0,    0,    0,       /* 22: push $1 */
	    0xe9, 0xe0, 0xff, 0xff, 0xff,    /* 27: jmp 0 */
	};

	(void)state;
	WORDS(16, 0, -1);
	WORDS(22, 0, -1);
	WORDS(27, 1, -1);
	WORDS(0, 1, -1);
	WORDS(6, 2, -1);
}

/* Where code is not known to lead, the frame pointer says where the caller is. */
static void code_that_leads_nowhere_is_not_followed(void **state)
{
	static const uint8_t code[] = {
	    0x48, 0x89, 0xec, 0x5d, 0xc3,       /* 0: mov %rbp,%rsp; pop %rbp; ret */
	    0x59, 0x51, 0xc3,                   /* 5: pop %rcx; push %rcx; ret */
	    0xeb, 0xfe,                         /* 8: jmp 8 */
	    0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3, /* 10: call 8; ret */
	    0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3, /* 16: call 16; ret */
	    0x50, 0xc3,                         /* 22: push %rax; ret */
	    0x0f, 0x0b, 0xc3,                   /* 24: ud2; ret */
	    0xc5, 0xf8, 0x77, 0xc3,             /* 27: vzeroupper; ret */
	    0x48, 0x83, 0xec,                   /* 31: cut off */
	};
	static const uint8_t starts[] = {0, 5, 8, 10, 16, 22, 24, 27};

	(void)state;
	for (size_t i = 0; i < sizeof(starts); i++)
		WORDS(starts[i], 3, 2);
	expect_words(code + 31, 3, 0, 3, 2);
}

/* 15.1: a thread's start and a stack that was exchanged may look the same: callers know which. */
static void a_return_address_of_zero_is_said(void **state)
{
	struct tally_unwind_trace trace = {0};
	struct scene scene;
	uint64_t frames[4];

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, NULL, 0);
	scene.cfi = made_table(&scene.made);
	assert_int_equal(tally_unwind_traced(&scene.start, &scene.world, frames, 4, &trace), 1);
	assert_int_equal(trace.end, TALLY_UNWIND_ZERO);
	scene.stack[0] = 0x9000; /* no code is there */
	assert_int_equal(tally_unwind_traced(&scene.start, &scene.world, frames, 4, &trace), 1);
	assert_int_equal(trace.end, TALLY_UNWIND_LOST);
	tally_cfi_free(scene.cfi);
}

/* 15.1: makecontext(3) puts the address of what ends a context where a return address would be. */
static void a_return_address_that_is_a_functions_start_is_of_the_outermost_frame(void **state)
{
	struct tally_unwind_trace trace = {0};
	struct scene scene;
	uint64_t frames[4];

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, NULL, 0);
	made_function(&scene.made, 0x1200, 0x10, NULL, 0);
	scene.cfi = made_table(&scene.made);
	scene.stack[0] = 0x1200;
	scene.stack[1] = 0x1004; /* not asked for */
	assert_int_equal(tally_unwind_traced(&scene.start, &scene.world, frames, 4, &trace), 2);
	assert_int_equal(frames[1], 0x11ff);
	assert_int_equal(trace.end, TALLY_UNWIND_ENTRY);
	tally_cfi_free(scene.cfi);
}

static void what_leads_to_itself_ends(void **state)
{
	static const uint8_t same[] = {0x0e, 0, 0x09, 0x10,
				       0x03}; /* return address is rbx, CFA is rsp */
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, same, sizeof(same));
	scene.values[BX] = 0x1004;
	EXPECT(&scene, 0x1004);
}

static void registers_that_were_not_recorded_end_the_chain(void **state)
{
	static const uint8_t by_r12[] = {0x0c, 12, 8};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, by_r12, sizeof(by_r12));
	scene.start.mask = 0x1ff; /* none of r8.. */
	EXPECT(&scene, 0x1004);
	scene.start.mask = 0xff; /* not even ip */
	expect(&scene, NULL, 0);
}

static void damaged_rules_end_the_chain(void **state)
{
	static const uint8_t unknown[] = {0x3f};
	struct scene scene;

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, unknown, sizeof(unknown));
	scene.stack[0] = 0x1008;
	EXPECT(&scene, 0x1004);
}

static void so_many_frames_and_no_more(void **state)
{
	struct scene scene;
	uint64_t frames[3];

	(void)state;
	set_up(&scene, 0x1004);
	made_function(&scene.made, 0x1000, 0x10, NULL, 0);
	for (unsigned i = 0; i < 64; i++)
		scene.stack[i] = 0x1008;
	scene.cfi = made_table(&scene.made);
	assert_int_equal(tally_unwind(&scene.start, &scene.world, frames, 3), 3);
	assert_int_equal(tally_unwind(&scene.start, &scene.world, frames, 0), 0);
	tally_cfi_free(scene.cfi);
}

/* arm64: x29 and x30 saved below the CFA; the return address is signed. */
static void arm64_is_unwound_by_its_link_register(void **state)
{
	uint64_t values[33] = {0};
	struct scene scene;
	static const uint8_t frame[] = {0x0c, 31, 32, 0x9d, 4, 0x9e, 3};
	static const uint8_t leaf[] = {0x0c, 31, 0};
	static const uint8_t undefined[] = {0x07, 30};

	(void)state;
	set_up(&scene, 0);
	/* The common part's return address is in column 16; make it 30. */
	scene.made.bytes[scene.made.common + 14] = 30;
	scene.made.bytes[scene.made.common + 20] = 0;
	scene.made.bytes[scene.made.common + 21] = 0;
	made_function(&scene.made, 0x1000, 0x10, leaf, sizeof(leaf));
	made_function(&scene.made, 0x1040, 0x20, frame, sizeof(frame));
	made_function(&scene.made, 0x1100, 0x20, undefined, sizeof(undefined));
	scene.start.arch = TALLY_UNWIND_ARM64;
	scene.start.mask = (1ULL << 33) - 1;
	scene.start.values = values;
	values[32] = 0x1004;
	values[31] = STACK_AT;
	values[30] = 0x1050;
	scene.stack[0] = 0x1111;
	scene.stack[1] = 0x2a000000001108;
	EXPECT(&scene, 0x1004, 0x104f, 0x1107);
}

/* 15.2: its caller is not the one whose frame the frame pointer points to. */
static void arm64_stub_leaves_the_link_register(void **state)
{
	static const uint32_t stub[] = {0x90000110, 0xf947fe11, 0x913fe210, 0xd61f0220};
	static const uint8_t frame[] = {0x0c, 31, 32, 0x9d, 4, 0x9e, 3};
	static const uint8_t undefined[] = {0x07, 30};
	uint64_t values[33] = {0};
	struct scene scene;

	(void)state;
	for (uint64_t at = 0; at < 4; at++) {
		set_up(&scene, 0);
		scene.made.bytes[scene.made.common + 14] = 30;
		scene.made.bytes[scene.made.common + 20] = 0;
		scene.made.bytes[scene.made.common + 21] = 0;
		made_function(&scene.made, 0x1040, 0x20, frame, sizeof(frame));
		made_function(&scene.made, 0x1100, 0x20, undefined, sizeof(undefined));
		memcpy(scene.code + 8, stub, sizeof(stub));
		scene.start.arch = TALLY_UNWIND_ARM64;
		scene.start.mask = (1ULL << 33) - 1;
		scene.start.values = values;
		values[32] = IMAGE_AT + 8 + 4 * at;
		values[31] = STACK_AT;
		values[30] = 0x1050;
		values[29] = STACK_AT + 32;
		scene.stack[1] = 0x1108;
		EXPECT(&scene, IMAGE_AT + 8 + 4 * at, 0x104f, 0x1107);
	}
}

/* --- expressions --- */

static int evaluate(const uint8_t *bytes, size_t size, uint64_t initial, uint64_t *ret,
		    int *ret_column)
{
	static struct scene scene;
	struct unwind_state state;
	static const struct unwind_machine machine = {
	    .word = 8, .pc = 16, .stack_pointer = 7, .frame_pointer = 6, .columns = 17};

	set_up(&scene, 0x1000);
	for (unsigned i = 0; i < 64; i++)
		scene.stack[i] = 0x1122334455667700 + i;
	state = (struct unwind_state){.machine = &machine,
				      .start = &scene.start,
				      .world = &scene.world,
				      .stack_from = STACK_AT,
				      .stack_until = STACK_AT + sizeof(scene.stack),
				      .cfa = STACK_AT};
	state.places[3] = (struct unwind_place){WHERE_VALUE, 40};
	return tally_unwind_evaluate(&state, bytes, size, initial, ret, ret_column);
}

static void expressions_are_evaluated(void **state)
{
	static const struct {
		uint8_t bytes[12], size;
		uint64_t value;
	} known[] = {
	    {{0x77, 8, 0x06}, 3, 0x1122334455667701},          /* breg7+8 deref */
	    {{0x77, 0x10, 0x94, 2}, 4, 0x7702},                /* deref_size 2 */
	    {{0x73, 2}, 2, 42},                                /* breg3+2 */
	    {{0x92, 3, 0x7f}, 3, 39},                          /* bregx 3 -1 */
	    {{0x35, 0x33, 0x1c}, 3, 2},                        /* 5 - 3 */
	    {{0x09, 0xff, 0x32, 0x1b}, 4, 0},                  /* -1 / 2 */
	    {{0x0b, 0, 0xff, 0x38, 0x26}, 5, UINT64_MAX},      /* -256 >> 8, with its sign */
	    {{0x11, 0x7f, 0x08, 60, 0x25}, 5, 15},             /* -1 >> 60 */
	    {{0x31, 0x08, 64, 0x24}, 4, 0},                    /* 1 << 64 */
	    {{0x31, 0x32, 0x33, 0x17, 0x1c}, 5, (uint64_t)-1}, /* 1 2 3 rot: 3 1 2; 1 - 2 */
	    {{0x35, 0x12, 0x22}, 3, 10},                       /* 5 dup + */
	    {{0x31, 0x32, 0x14}, 3, 1},                        /* over */
	    {{0x31, 0x32, 0x33, 0x15, 2}, 5, 1},               /* pick 2 */
	    {{0x31, 0x32, 0x16, 0x1c}, 4, 1},                  /* swap: 2 - 1 */
	    {{0x11, 0x7b, 0x19}, 3, 5},                        /* abs -5 */
	    {{0x35, 0x1f, 0x20}, 3, 4},                        /* neg, not */
	    {{0x35, 0x23, 0x80, 1}, 4, 133},                   /* plus_uconst 128 */
	    {{0x31, 0x28, 1, 0, 0x37, 0x38}, 6, 8},            /* bra over the 7 */
	    {{0x30, 0x28, 1, 0, 0x37, 0x96}, 6, 7},            /* and not */
	    {{0x2f, 1, 0, 0x37, 0x39}, 5, 9},                  /* skip */
	    {{0x35, 0x36, 0x2d}, 3, 1},                        /* 5 < 6 */
	    {{0x0e, 1, 2, 3, 4, 5, 6, 7, 8}, 9, 0x0807060504030201},
	    {{0x96}, 1, 77}, /* what was there at first */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint64_t value = 0;
		int column = 0;

		assert_int_equal(evaluate(known[i].bytes, known[i].size, 77, &value, &column), 0);
		assert_int_equal(column, -1);
		assert_int_equal(value, known[i].value);
	}
}

static void invalid_expressions_are_refused(void **state)
{
	static const struct {
		uint8_t bytes[6], size;
	} wrong[] = {
	    {{0x13, 0x13}, 2},             /* two drops */
	    {{0x13}, 1},                   /* nothing is left */
	    {{0x30, 0x1b}, 2},             /* division by zero */
	    {{0x0e, 1}, 2},                /* a constant that is cut */
	    {{0x2f, 0xfd, 0xff}, 3},       /* round and round */
	    {{0x2f, 0x10, 0}, 3},          /* out of it */
	    {{0x15, 9}, 2},                /* picks what is not there */
	    {{0x9c}, 1},                   /* call_frame_cfa */
	    {{0x30, 0x06}, 2},             /* reads nowhere */
	    {{0x77, 0, 0x94, 9}, 4},       /* a word of 9 bytes */
	    {{0x12, 0x2f, 0xfc, 0xff}, 4}, /* fills the stack */
	    {{0x70 + 5, 0}, 2},            /* a register that is lost */
	};
	uint64_t value;
	int column;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(evaluate(wrong[i].bytes, wrong[i].size, 77, &value, &column) < 0);
	assert_int_equal(evaluate((const uint8_t[]){0x53}, 1, 0, &value, &column), 0);
	assert_int_equal(column, 3);
	assert_int_equal(evaluate((const uint8_t[]){0x90, 12}, 2, 0, &value, &column), 0);
	assert_int_equal(column, 12);
	assert_true(evaluate((const uint8_t[]){0x90, 99}, 2, 0, &value, &column) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(callers_are_found_by_the_stack_pointer),
	    cmocka_unit_test(callers_are_found_by_saved_registers),
	    cmocka_unit_test(who_was_interrupted_is_not_looked_up_before_its_address),
	    cmocka_unit_test(registers_are_the_saved_ones_when_a_signal_is_about_to_be_handled),
	    cmocka_unit_test(a_handler_returns_to_code_without_rules_that_restores_the_registers),
	    cmocka_unit_test(a_handler_that_has_half_returned_has_no_caller),
	    cmocka_unit_test(rules_without_a_return_address_end_the_chain),
	    cmocka_unit_test(the_chain_ends_where_the_stack_that_was_kept_does),
	    cmocka_unit_test(code_of_no_image_ends_the_chain),
	    cmocka_unit_test(without_information_the_frame_pointer_is_tried),
	    cmocka_unit_test(stubs_into_libraries_have_but_a_return_address),
	    cmocka_unit_test(a_frame_pointer_that_is_not_set_yet_is_not_used),
	    cmocka_unit_test(registers_below_the_stack_pointer_are_the_callers_already),
	    cmocka_unit_test(the_caller_of_init_is_found_without_rules),
	    cmocka_unit_test(code_without_rules_is_followed_to_its_return),
	    cmocka_unit_test(stubs_are_followed_to_what_they_jump_to),
	    cmocka_unit_test(code_that_leads_nowhere_is_not_followed),
	    cmocka_unit_test(a_return_address_of_zero_is_said),
	    cmocka_unit_test(a_return_address_that_is_a_functions_start_is_of_the_outermost_frame),
	    cmocka_unit_test(what_leads_to_itself_ends),
	    cmocka_unit_test(registers_that_were_not_recorded_end_the_chain),
	    cmocka_unit_test(damaged_rules_end_the_chain),
	    cmocka_unit_test(so_many_frames_and_no_more),
	    cmocka_unit_test(arm64_is_unwound_by_its_link_register),
	    cmocka_unit_test(arm64_stub_leaves_the_link_register),
	    cmocka_unit_test(expressions_are_evaluated),
	    cmocka_unit_test(invalid_expressions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
