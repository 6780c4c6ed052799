package io.caravan.bench.report;

/**
 * One table of a report.
 *
 * @param title empty when the report has only this one
 * @param notes what a reader has to know about all rows, in Markdown; may be empty
 */
public record Table(String title, String notes, Results results) {}
