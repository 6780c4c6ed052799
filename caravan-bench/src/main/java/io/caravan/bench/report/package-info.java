/**
 * What all measurements share: figures of a run, the runs of a row, tables of rows for people and programs, and the times
 * that the machine itself needs.
 */
@NullMarked
package io.caravan.bench.report;

import org.jspecify.annotations.NullMarked;
