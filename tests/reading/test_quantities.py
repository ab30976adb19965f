"""Quantities by form: value, unit and kind."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paraqd.reading import Quantity, read

Expected = list[tuple[str, str | None, str]]


def quantities(text: str) -> Expected:
    return [(str(q.value), q.unit, q.kind.value) for q in read(text).quantities]


def only(text: str) -> Quantity:
    """Return the one quantity of a text."""
    (quantity,) = read(text).quantities
    return quantity


def examples(*rows: tuple[str, Expected]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("text", "expected"), rows, ids=[row[0] for row in rows])


@examples(
    ("The hall seats 1,200 people.", [("1200", None, "count")]),
    ("The district has 1,20,000 voters.", [("120000", None, "count")]),
    ("The district has 12,34,56,789 voters.", [("123456789", None, "count")]),
    ("10,576 fans came.", [("10576", None, "count")]),
    ("1,234,567.89 is a long number.", [("123456789/100", None, "count")]),
    ("The probability is 0.6.", [("3/5", None, "count")]),
    ("The probability is .5.", [("1/2", None, "count")]),
    ("The sides are 3,4,5.", [("3", None, "count"), ("4", None, "count"), ("5", None, "count")]),
    ("The sides are 12,5 and 13.", [("12", None, "count"), ("5", None, "count"), ("13", None, "count")]),
    ("He scored 007.", [("7", None, "count")]),
    ("It has 0 marbles.", [("0", None, "count")]),
    ("The last of the numbers is 9", [("9", None, "count")]),
)
def test_plain_numbers(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("She ate 3/4 of the cake.", [("3/4", None, "fraction")]),
    ("The recipe needs 1 1/2 times as much.", [("3/2", None, "multiple")]),
    ("Add 2 3/4 and 1.", [("11/4", None, "fraction"), ("1", None, "count")]),
    ("½ of the class left.", [("1/2", None, "fraction")]),
    ("⅞ of the tank is full.", [("7/8", None, "fraction")]),
    ("The sum is 5 ⅓.", [("16/3", None, "fraction")]),
    ("The sum is 5⅓.", [("16/3", None, "fraction")]),
    ("2/3rd of the boys play chess.", [("2/3", None, "fraction")]),
    ("Half of the boys play chess.", [("1/2", None, "fraction")]),
    ("A quarter of the boys play chess.", [("1/4", None, "fraction")]),
    ("A third of the boys play chess.", [("1/3", None, "fraction")]),
    ("Two-thirds of the boys play chess.", [("2/3", None, "fraction")]),
    ("Two thirds of the boys play chess.", [("2/3", None, "fraction")]),
    ("Three fifths of the boys play chess.", [("3/5", None, "fraction")]),
    ("One-half of the boys play chess.", [("1/2", None, "fraction")]),
    ("The number is three and a half.", [("7/2", None, "fraction")]),
    ("The number is one and three quarters.", [("7/4", None, "fraction")]),
    ("5/0 is not defined.", [("5", None, "count"), ("0", None, "count")]),
    ("He was born on 3/4/2010.", [("3", None, "count"), ("4", None, "count"), ("2010", None, "count")]),
)
def test_fractions(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("He earns 20% more.", [("20", "percent", "percent")]),
    ("He earns 20 % more.", [("20", "percent", "percent")]),
    ("He earns 20 percent more.", [("20", "percent", "percent")]),
    ("He earns 20 per cent more.", [("20", "percent", "percent")]),
    ("He earns twenty percent more.", [("20", "percent", "percent")]),
    ("A 20-percent discount.", [("20", "percent", "percent")]),
    ("The tax is 12.5%.", [("25/2", "percent", "percent")]),
    ("The tax is 33 1/3%.", [("100/3", "percent", "percent")]),
    ("A loan at 5% per annum.", [("5", "percent/year", "percent")]),
    ("A loan at 5% p.a. was taken.", [("5", "percent/year", "percent")]),
    ("A loan at 2% per month.", [("2", "percent/month", "percent")]),
)
def test_percent(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("Sand and lime are mixed 2:3.", [("2/3", None, "ratio")]),
    ("Sand and lime are mixed 2 : 3.", [("2/3", None, "ratio")]),
    ("The ages are in the ratio of 2 to 3.", [("2/3", None, "ratio")]),
    ("The ages are in the ratio 2 : 3 : 5.", [("2/3", None, "ratio")]),
    ("The ages are in the ratio 10:30.", [("1/3", None, "ratio")]),
)
def test_ratios(text: str, expected: Expected):
    assert quantities(text) == expected


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("mixed 2:3", (2, 3)),
        ("mixed 2 : 3 : 5", (2, 3, 5)),
        ("in the ratio of 2 to 3", (2, 3)),
        ("in the ratio of 2 to 3 to 7", (2, 3, 7)),
        ("in the ratio 1/2:1/3", (Fraction(1, 2), Fraction(1, 3))),
        ("has 5 apples", ()),
    ],
)
def test_terms_of_a_ratio(text: str, terms: tuple[Fraction, ...]):
    assert only(text).terms == terms


@pytest.mark.parametrize("text", ["in the ratio 2:0", "the ratio 2:0 to 3", "the ratio 0:0:0", "ratio of 2 to 0"])
def test_a_ratio_to_zero_is_read_somehow(text: str):
    assert read(text).quantities


@examples(
    ("It costs $5.", [("5", "dollar", "money")]),
    ("It costs $ 5.", [("5", "dollar", "money")]),
    ("It costs US$5.", [("5", "dollar", "money")]),
    ("It costs $1,250.75.", [("5003/4", "dollar", "money")]),
    ("It costs 5 dollars.", [("5", "dollar", "money")]),
    ("It costs five dollars.", [("5", "dollar", "money")]),
    ("It costs Rs.40,000 now.", [("40000", "rupee", "money")]),
    ("It costs Rs. 40,000 now.", [("40000", "rupee", "money")]),
    ("It costs Rs 40000 now.", [("40000", "rupee", "money")]),
    ("It costs ₹14.", [("14", "rupee", "money")]),
    ("It costs INR 500.", [("500", "rupee", "money")]),
    ("It costs Rs. 500/- only.", [("500", "rupee", "money")]),
    ("It costs £1.30.", [("13/10", "pound sterling", "money")]),
    ("It costs 58 cents.", [("58", "cent", "money")]),
    ("It costs 58¢.", [("58", "cent", "money")]),
    ("It costs €7.", [("7", "euro", "money")]),
    ("It costs 7 euros.", [("7", "euro", "money")]),
    ("It costs ¥300.", [("300", "yen", "money")]),
    ("It costs 75 paise.", [("75", "paisa", "money")]),
    ("It costs 30 pence.", [("30", "penny", "money")]),
    ("A $20-off coupon.", [("20", "dollar", "money")]),
    ("A 20-dollar note.", [("20", "dollar", "money")]),
    ("It cost $1.5 billion.", [("1500000000", "dollar", "money")]),
    ("It cost $10k.", [("10000", "dollar", "money")]),
    ("It cost $2 million.", [("2000000", "dollar", "money")]),
    ("It cost Rs. 2 lakh.", [("200000", "rupee", "money")]),
    ("Rice is sold at Rs. 9/kg.", [("9", "rupee/kilogram", "money")]),
    ("He earns $5 per hour.", [("5", "dollar/hour", "money")]),
    ("He earns $5 an hour.", [("5", "dollar/hour", "money")]),
    ("Entry is $3 per ticket.", [("3", "dollar", "money")]),
    ("His balance is -$40.", [("-40", "dollar", "money")]),
)
def test_money(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("The ham weighs 6 pounds.", [("6", "pound", "measure")]),
    ("She bought 6 pounds of ham.", [("6", "pound", "measure")]),
    ("A parcel of 3 lbs.", [("3", "pound", "measure")]),
    ("A ticket costs 6 pounds and 20 pence.", [("6", "pound sterling", "money"), ("20", "penny", "money")]),
    ("He paid 6 pounds for the ticket.", [("6", "pound sterling", "money")]),
)
def test_pounds(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("He ran 5km.", [("5", "kilometre", "measure")]),
    ("He ran 5 kilometers.", [("5", "kilometre", "measure")]),
    ("A 7-inch nail.", [("7", "inch", "measure")]),
    ("He is 5 feet 6 inches tall.", [("5", "foot", "measure"), ("6", "inch", "measure")]),
    ("It moves at 20kmph.", [("20", "kilometre/hour", "measure")]),
    ("It moves at 60 miles per hour.", [("60", "mile/hour", "measure")]),
    ("It moves at 60 miles an hour.", [("60", "mile/hour", "measure")]),
    ("It moves at 60 mph.", [("60", "mile/hour", "measure")]),
    ("It moves at 5 m/s.", [("5", "metre/second", "measure")]),
    ("It moves at 36 km/h.", [("36", "kilometre/hour", "measure")]),
    ("It moves at 36 km/hr.", [("36", "kilometre/hour", "measure")]),
    ("He works 8 hours a day.", [("8", "hour/day", "measure")]),
    ("The pipe fills 5 litres per minute.", [("5", "litre/minute", "measure")]),
    ("The angle is 45°.", [("45", "degree", "measure")]),
    ("The angle is 45 degrees.", [("45", "degree", "measure")]),
    ("It was 98.6°F.", [("493/5", "degree fahrenheit", "measure")]),
    ("It was 30 degrees Celsius.", [("30", "degree celsius", "measure")]),
    ("It was 30 °C.", [("30", "degree celsius", "measure")]),
    ("It took two and a half hours.", [("5/2", "hour", "measure")]),
    ("It took half an hour.", [("1/2", "hour", "measure")]),
    ("It took a quarter of an hour.", [("1/4", "hour", "measure")]),
    ("It took 1/4 of an hour.", [("1/4", "hour", "measure")]),
    ("It took an hour and a half.", [("3/2", "hour", "measure")]),
    ("It takes an hour.", [("1", "hour", "measure")]),
    ("She returns in an hour.", [("1", "hour", "measure")]),
    ("It lasted a decade.", [("1", "decade", "measure")]),
    ("It lasted two fortnights.", [("2", "fortnight", "measure")]),
    ("It took 2½ hours.", [("5/2", "hour", "measure")]),
    ("It took 1 1/2 hours.", [("3/2", "hour", "measure")]),
    ("It took one hour.", [("1", "hour", "measure")]),
    ("In 1 day's work he does little.", [("1", "day", "measure")]),
)
def test_measures(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("An area of 5 cm^2.", [("5", "square centimetre", "measure")]),
    ("An area of 5 cm².", [("5", "square centimetre", "measure")]),
    ("An area of 5 cm2.", [("5", "square centimetre", "measure")]),
    ("An area of 5 sq. cm.", [("5", "square centimetre", "measure")]),
    ("An area of 5 sq cm.", [("5", "square centimetre", "measure")]),
    ("An area of 5 square centimetres.", [("5", "square centimetre", "measure")]),
    ("A volume of 5 m³.", [("5", "cubic metre", "measure")]),
    ("A volume of 5 cubic metres.", [("5", "cubic metre", "measure")]),
    ("A volume of 5 cubic meters.", [("5", "cubic metre", "measure")]),
    ("A volume of 5 cc.", [("5", "cubic centimetre", "measure")]),
    ("A plot of 3 acres.", [("3", "acre", "measure")]),
    ("A plot of 3 hectares.", [("3", "hectare", "measure")]),
)
def test_areas_and_volumes(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("The pole is 5 m long.", [("5", "metre", "measure")]),
    ("Take 200 g of flour.", [("200", "gram", "measure")]),
    ("Add 2 l of water.", [("2", "litre", "measure")]),
    ("Add 2 L of water.", [("2", "litre", "measure")]),
    ("It ran for 10 s.", [("10", "second", "measure")]),
    ("Solve 2m + 3 = 7.", [("2", None, "coefficient"), ("3", None, "count"), ("7", None, "count")]),
    ("If m and n are integers, 5m is even.", [("5", None, "coefficient")]),
    ("If g is a number and 4g = 20, find g.", [("4", None, "coefficient"), ("20", None, "count")]),
    ("There are 5 in the box.", [("5", None, "count")]),
    ("The nail is 5 in. long.", [("5", "inch", "measure")]),
)
def test_letters_that_may_be_units(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("She bought a dozen eggs.", [("12", None, "count")]),
    ("She bought two dozen eggs.", [("24", None, "count")]),
    ("She bought 3 dozen eggs.", [("36", None, "count")]),
    ("She bought half a dozen eggs.", [("6", None, "count")]),
    ("She bought a couple of eggs.", [("2", None, "count")]),
    ("She bought a hundred eggs.", [("100", None, "count")]),
    ("twenty-five boys", [("25", None, "count")]),
    ("one hundred and five boys", [("105", None, "count")]),
    ("two thousand three hundred boys", [("2300", None, "count")]),
    ("two lakh fifty thousand boys", [("250000", None, "count")]),
    ("3.5 million people", [("3500000", None, "count")]),
    ("2 lakh people", [("200000", None, "count")]),
    ("3 crore people", [("30000000", None, "count")]),
    ("half a million people", [("500000", None, "count")]),
    ("five and six", [("5", None, "count"), ("6", None, "count")]),
    ("two point five", [("5/2", None, "count")]),
    ("Zero is even.", [("0", None, "count")]),
)
def test_counts_in_words(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("He has twice as many pens.", [("2", None, "multiple")]),
    ("He has thrice as many pens.", [("3", None, "multiple")]),
    ("The price will double.", [("2", None, "multiple")]),
    ("The price tripled.", [("3", None, "multiple")]),
    ("A twofold increase.", [("2", None, "multiple")]),
    ("He has 3 times as many pens.", [("3", None, "multiple")]),
    ("He has three times as many pens.", [("3", None, "multiple")]),
    ("He has 2.5 times as many pens.", [("5/2", None, "multiple")]),
)
def test_multiples(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("She came 2nd.", [("2", None, "ordinal")]),
    ("Find the 6 th term.", [("6", None, "ordinal")]),
    ("Find the 21st term.", [("21", None, "ordinal")]),
    ("It rained on the third day.", [("3", None, "ordinal")]),
    ("It was her twenty-first birthday.", [("21", None, "ordinal")]),
    ("The second number is larger.", [("2", None, "ordinal")]),
    ("A third pipe empties the tank.", [("3", None, "ordinal")]),
    ("A third of the tank is empty.", [("1/3", None, "fraction")]),
    ("He came tenth.", [("10", None, "ordinal")]),
)
def test_ordinals(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("The bus left at 10 a.m. today.", [("10", None, "time_of_day")]),
    ("The bus left at 10 am.", [("10", None, "time_of_day")]),
    ("The bus left at 10AM.", [("10", None, "time_of_day")]),
    ("The bus left at 10:30 pm.", [("45/2", None, "time_of_day")]),
    ("The bus left at 10:30 p.m. today.", [("45/2", None, "time_of_day")]),
    ("The bus left at 3:30.", [("7/2", None, "time_of_day")]),
    ("The bus left at 15:45.", [("63/4", None, "time_of_day")]),
    ("The bus left at 5 o'clock.", [("5", None, "time_of_day")]),
    ("The bus left at five o'clock.", [("5", None, "time_of_day")]),
    ("The bus left at noon.", [("12", None, "time_of_day")]),
    ("The bus left at half past three.", [("7/2", None, "time_of_day")]),
    ("The bus left at quarter to four.", [("15/4", None, "time_of_day")]),
    ("The bus left at 12 a.m. sharp.", [("0", None, "time_of_day")]),
    ("The bus left at 12 p.m. sharp.", [("12", None, "time_of_day")]),
    ("The bus left at midnight.", [("0", None, "time_of_day")]),
)
def test_times_of_day(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("The limit was -5.", [("-5", None, "count")]),
    ("It was −5 °C.", [("-5", "degree celsius", "measure")]),
    ("Add negative 5.", [("-5", None, "count")]),
    ("Work out 5 - 3.", [("5", None, "count"), ("3", None, "count")]),
    ("Work out x - 3.", [("3", None, "count")]),
    ("10-3=7", [("10", None, "count"), ("3", None, "count"), ("7", None, "count")]),
    ("Let x = -4.", [("-4", None, "count")]),
    ("(-2, 3)", [("-2", None, "count"), ("3", None, "count")]),
)
def test_signs(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("Take 2y away.", [("2", None, "coefficient")]),
    ("Expand 3(x + 1).", [("3", None, "coefficient"), ("1", None, "count")]),
    ("kx + 2y = 6", [("2", None, "coefficient"), ("6", None, "count")]),
    ("x^2 is even.", [("2", None, "exponent")]),
    ("x² is even.", [("2", None, "exponent")]),
    ("2^10 is even.", [("2", None, "count"), ("10", None, "exponent")]),
    ("x1 is even.", [("1", None, "label")]),
    ("Point A1 is red.", [("1", None, "label")]),
    ("H2O is water.", [("2", None, "label")]),
    ("x₁ is even.", [("1", None, "label")]),
)
def test_expressions(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("This one is red and the other one is blue.", []),
    ("No one came.", []),
    ("One of them is lying.", []),
    ("One must be careful.", []),
    ("Which one is larger?", []),
    ("He saw a dog and an owl.", []),
    ("A few boys and several girls came once.", []),
    ("A couple went to the cinema.", []),
    ("The rate is given per second.", []),
    ("Tony, Simone and Stephen phoned someone.", []),
    ("A lone tenant often weighs the evidence.", []),
    ("One liter is left.", [("1", "litre", "measure")]),
    ("One man and two boys dig.", [("1", None, "count"), ("2", None, "count")]),
    ("One hundred boys dig.", [("100", None, "count")]),
    ("3 quarters and 2 dimes", [("3", None, "count"), ("2", None, "count")]),
)
def test_what_is_no_quantity(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("It cost $10k, or more.", [("10000", "dollar", "money")]),
    ("The plant cost £2m.", [("2000000", "pound sterling", "money")]),
    ("She won half a million dollars.", [("500000", "dollar", "money")]),
    ("It took 2 and 1/2 hours.", [("5/2", "hour", "measure")]),
    ("It took 2-1/2 hours.", [("5/2", "hour", "measure")]),
    ("It took 2h 15m.", [("2", "hour", "measure"), ("15", "minute", "measure")]),
    ("The film starts at 7.30 p.m. today.", [("39/2", None, "time_of_day")]),
    ("They met at 12 noon.", [("12", None, "time_of_day")]),
    ("The house was built in the 1990s.", [("1990", None, "count")]),
    ("She is in her 20s.", [("20", None, "count")]),
    ("His balance is $-40.", [("-40", "dollar", "money")]),
    ("Work out 5 + -3.", [("5", None, "count"), ("-3", None, "count")]),
    ("She bought a second-hand bicycle for $40.", [("40", "dollar", "money")]),
    ("It rained on the one hundred and fifth day.", [("105", None, "ordinal")]),
    ("Find the twenty first term.", [("21", None, "ordinal")]),
    ("It took six-and-a-half hours.", [("13/2", "hour", "measure")]),
    ("Several dozen people came.", []),
    ("A few hundred people came.", []),
    ("One, two and three are small.", [("1", None, "count"), ("2", None, "count"), ("3", None, "count")]),
    ("The sum of one, two and three is six.", [(n, None, "count") for n in ("1", "2", "3", "6")]),
)
def test_everyday_forms(text: str, expected: Expected):
    assert quantities(text) == expected


@examples(
    ("10-20 boys", [("10", None, "count"), ("20", None, "count")]),
    ("It takes 5 to 7 days.", [("5", "day", "measure"), ("7", "day", "measure")]),
    ("It takes 5-7 days.", [("5", "day", "measure"), ("7", "day", "measure")]),
    ("between 3 and 5 km", [("3", "kilometre", "measure"), ("5", "kilometre", "measure")]),
    (
        "in 3, 4 and 12 days",
        [("3", "day", "measure"), ("4", "day", "measure"), ("12", "day", "measure")],
    ),
    (
        "in 3, 4, and 12 days",
        [("3", "day", "measure"), ("4", "day", "measure"), ("12", "day", "measure")],
    ),
    ("two or three hours", [("2", "hour", "measure"), ("3", "hour", "measure")]),
    ("a field of 20 by 30 metres", [("20", "metre", "measure"), ("30", "metre", "measure")]),
    ("Rs. 60 to 80", [("60", "rupee", "money"), ("80", "rupee", "money")]),
    ("rates of 5 and 6 percent", [("5", "percent", "percent"), ("6", "percent", "percent")]),
    ("5 boys and 6 km", [("5", None, "count"), ("6", "kilometre", "measure")]),
)
def test_lists_and_ranges_share_the_unit(text: str, expected: Expected):
    assert quantities(text) == expected


@pytest.mark.parametrize("digits", [401, 4300, 4301, 5000, 20_000])
@pytest.mark.parametrize(
    "shape", ["{}", "1 {}/2", "{}/{}", "1/{}", "2^{}", "2:{}", "x{}", "{}.{}", "${}", "{}:{}", ".{}"]
)
def test_very_long_numbers_do_not_crash(shape: str, digits: int):
    text = shape.format("9" * digits, "8" * digits)
    covered = sum(q.end - q.start for q in read(text).quantities)
    assert covered >= digits


@examples(
    ("They line up in twelves or by sixes.", [("12", None, "count"), ("6", None, "count")]),
    ("The fives were on the table.", []),
    ("At 6 in the morning it rained.", [("6", None, "time_of_day")]),
    ("It rained until eight in the evening.", [("20", None, "time_of_day")]),
    ("She sold 3 in the morning.", [("3", None, "count")]),
    ("a train starts at 7 a . m . sharp", [("7", None, "time_of_day")]),
    ("Sunday hours pay time and a half.", [("3/2", None, "multiple")]),
    ("What time and a day?", []),
    ("He came at ten to seven in the evening.", [("113/6", None, "time_of_day")]),
    ("It is five past nine.", [("109/12", None, "time_of_day")]),
    ("They sell at five to nine dollars.", [("5", "dollar", "money"), ("9", "dollar", "money")]),
    ("He is three score and ten years old.", [("70", "year", "measure")]),
    ("All three score a goal.", [("3", None, "count")]),
)
def test_groups_parts_of_the_day_and_time_and_a_half(text: str, expected: Expected) -> None:
    assert quantities(text) == expected
