package io.caravan.bench.report;

import io.caravan.bench.report.Results.Row;
import java.util.Map;

/**
 * One table of a report.
 *
 * @param title empty when the report has only this one
 * @param notes what a reader has to know about all rows, in Markdown; may be empty
 * @param remarks what he has to know about some, in a column of its own; without any there is no column
 */
public record Table(String title, String notes, Results results, Map<Row, String> remarks) {

    /** A table without remarks. */
    public Table(String title, String notes, Results results) {
        this(title, notes, results, Map.of());
    }
}
