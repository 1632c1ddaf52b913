/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * expression.h: the values of arithmetic expressions, by recursive descent.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = number | "-" factor | "(" sum ")"
 */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include <math.h>
#include <stdint.h>

/* How deep parentheses and signs may nest. */
#define EXPRESSION_DEPTH_LIMIT 64

/* The rest of the text, and the first error in it, if any. */
typedef struct expression {
    const char *next;
    const char *end;
    int depth;
    const char *problem;
} expression;

static double expression_sum(expression *text);

static int expression_take(expression *text, char wanted) {
    while (text->next < text->end && *text->next == ' ') text->next++;
    if (text->next == text->end || *text->next != wanted) return 0;
    text->next++;
    return 1;
}

static int expression_digit(const expression *text) {
    return text->next < text->end && *text->next >= '0' && *text->next <= '9';
}

static double expression_number(expression *text) {
    double value = 0;
    double place = 1;
    if (!expression_digit(text)) text->problem = "expected a number, '-' or '('";
    while (expression_digit(text)) value = value * 10 + (*text->next++ - '0');
    if (text->next == text->end || *text->next != '.') return value;
    text->next++;
    if (!expression_digit(text)) text->problem = "expected a digit after '.'";
    while (expression_digit(text)) value += (*text->next++ - '0') * (place /= 10);
    return value;
}

static double expression_factor(expression *text) {
    double value;
    if (text->problem != 0) return 0;
    if (++text->depth > EXPRESSION_DEPTH_LIMIT) {
        text->problem = "the expression nests too deeply";
        return 0;
    }
    if (expression_take(text, '-')) {
        value = -expression_factor(text);
    } else if (expression_take(text, '(')) {
        value = expression_sum(text);
        if (!expression_take(text, ')') && text->problem == 0) text->problem = "expected ')'";
    } else {
        value = expression_number(text);
    }
    text->depth--;
    return value;
}

static double expression_product(expression *text) {
    double value = expression_factor(text);
    while (text->problem == 0) {
        if (expression_take(text, '*')) {
            value *= expression_factor(text);
        } else if (expression_take(text, '/')) {
            double divisor = expression_factor(text);
            if (divisor == 0 && text->problem == 0) text->problem = "division by zero";
            value /= divisor;
        } else {
            break;
        }
    }
    return value;
}

static double expression_sum(expression *text) {
    double value = expression_product(text);
    while (text->problem == 0) {
        if (expression_take(text, '+')) {
            value += expression_product(text);
        } else if (expression_take(text, '-')) {
            value -= expression_product(text);
        } else {
            break;
        }
    }
    return value;
}

/* Sets *value; returns the error in the expression, or null. */
static const char *expression_value(const char *bytes, uint64_t length, double *value) {
    expression text = {bytes, bytes + length, 0, 0};
    *value = expression_sum(&text);
    if (text.problem == 0) {
        (void)expression_take(&text, ' ');
        if (text.next != text.end) text.problem = "expected an operator or the end";
    }
    if (text.problem == 0 && !isfinite(*value)) text.problem = "the value is beyond what a number can say";
    return text.problem;
}

#endif
