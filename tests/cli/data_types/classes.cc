// Functions that access members of classes; tests/cli/data_types.bats knows which.
#include <cstdio>

class Shape {
public:
	virtual double area() const = 0;
	virtual ~Shape() {}
	long id = 7;
};

class Box : public Shape {
public:
	double width = 2, height = 3;
	double area() const override;
	Box *other = nullptr;
};

double Box::area() const
{
	return width * height;
}

extern "C" __attribute__((noinline)) double of_other(const Box &box)
{
	return box.other->height;
}

extern "C" __attribute__((noinline)) long of_base(Box *box)
{
	return box->other->id;
}

int main()
{
	Box one, two;

	one.other = &two;
	std::printf("%f %ld\n", one.area() + of_other(one), of_base(&one));
	return 0;
}
