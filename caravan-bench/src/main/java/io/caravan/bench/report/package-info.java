/**
 * Code that all benchmarks share: the options, the results of all runs, reports for people and programs, and
 * measurements of the machine's own limits.
 */
@NullMarked
package io.caravan.bench.report;

import org.jspecify.annotations.NullMarked;
