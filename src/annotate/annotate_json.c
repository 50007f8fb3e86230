/* Listings as JSON; tally-json(7) describes the keys. */
#include "annotate/annotate_text.h"
#include "session/session.h"

static void put_numbers(const struct tally_annotation *annotation, const char *key,
			const uint64_t *numbers, struct json *json)
{
	json_key(json, key);
	json_array(json);
	for (size_t i = 0; i < annotation->event_count; i++)
		json_u64(json, numbers[i]);
	json_array_end(json);
}

static void put_percents(const struct annotate_view *view, const uint64_t *samples,
			 const uint64_t *periods, struct json *json)
{
	json_key(json, "percent");
	json_array(json);
	for (size_t i = 0; i < view->annotation->event_count; i++)
		json_double(json, tally_annotation_percent(view->annotation, view->function,
							   view->options->percent_type, i,
							   samples[i], periods[i]));
	json_array_end(json);
}

static void put_sums(const struct annotate_view *view, const uint64_t *samples,
		     const uint64_t *periods, struct json *json)
{
	put_numbers(view->annotation, "samples", samples, json);
	put_numbers(view->annotation, "period", periods, json);
	put_percents(view, samples, periods, json);
}

static void put_line(const char *file, uint32_t line, struct json *json)
{
	json_key_string(json, "file", file);
	json_key(json, "line");
	if (file && line)
		json_u64(json, line);
	else
		json_null(json);
}

static void put_bytes(const uint8_t *bytes, size_t size, struct json *json)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * UINT8_MAX];

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	json_key(json, "bytes");
	json_string(json, text, 2 * size);
}

static void put_instruction(const struct annotate_text *text, const struct listing_row *row,
			    struct json *json)
{
	static const char *const kinds[] = {
	    [TALLY_INSN_PLAIN] = "plain",     [TALLY_INSN_JUMP] = "jump",
	    [TALLY_INSN_CALL] = "call",       [TALLY_INSN_RETURN] = "return",
	    [TALLY_INSN_UNKNOWN] = "unknown",
	};

	json_object(json);
	json_key(json, "address");
	json_hex(json, row->address);
	put_bytes(text->listing->bytes + row->offset, row->size, json);
	json_key_string(json, "mnemonic", row->mnemonic);
	json_key_string(json, "operands", row->operands);
	json_key_string(json, "kind", kinds[row->kind]);
	json_key(json, "target");
	if (row->has_target)
		json_hex(json, row->target);
	else
		json_null(json);
	put_line(row->file, row->line, json);
	json_key_string(json, "inlined", row->function);
	put_sums(&text->view, row->samples, row->periods, json);
	json_object_end(json);
}

static void put_lines(const struct annotate_text *text, struct json *json)
{
	for (size_t i = 0; i < text->lines->count; i++) {
		const struct line_sum *line = &text->lines->lines[i];
		size_t length;
		const char *source = line->file ? tally_source_lines_find(text->sources, line->file,
									  line->line, &length)
						: NULL;

		json_object(json);
		put_line(line->file, line->line, json);
		json_key(json, "text");
		if (source)
			json_string(json, source, length);
		else
			json_null(json);
		put_sums(&text->view, line->samples, line->periods, json);
		json_object_end(json);
	}
}

void tally_annotate_json_function(const struct annotate_text *text, const char *why,
				  struct json *json)
{
	const struct annotated *function = text->view.function;
	struct tally_frame frame =
	    tally_session_frame(text->view.annotation->session, function->frame);

	json_object(json);
	json_key_string(json, "symbol", frame.symbol);
	json_key_string(json, "dso", frame.image_name);
	json_key_string(json, "path", frame.image_path);
	json_key_u64(json, "size", function->end - function->start);
	json_key(json, "share");
	json_double(json, function->share * 100);
	put_numbers(text->view.annotation, "samples", function->samples, json);
	put_numbers(text->view.annotation, "period", function->periods, json);
	json_key_string(json, "missing", why);
	json_key(json, "lines");
	json_array(json);
	if (text->lines)
		put_lines(text, json);
	json_array_end(json);
	json_key(json, "instructions");
	json_array(json);
	for (size_t i = 0; text->listing && i < text->listing->count; i++)
		put_instruction(text, &text->listing->rows[i], json);
	json_array_end(json);
	json_object_end(json);
}

void tally_annotate_json_events(const struct tally_annotation *annotation, struct json *json)
{
	const struct tally_data *data = tally_session_data(annotation->session);

	json_array(json);
	for (size_t i = 0; i < annotation->event_count; i++) {
		json_object(json);
		json_key_string(json, "event", tally_data_event(data, i)->name);
		json_key_u64(json, "samples", annotation->sums.totals[i].samples);
		json_key_u64(json, "period", annotation->sums.totals[i].period);
		json_object_end(json);
	}
	json_array_end(json);
}
