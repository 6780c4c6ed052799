/**
 * The parts that all measurements share: the numbers of a run, the runs of a row, tables for people and programs, and
 * the machine's own limits.
 */
@NullMarked
package io.caravan.bench.report;

import org.jspecify.annotations.NullMarked;
