package io.caravan.bench.report;

import io.caravan.bench.report.Results.Row;
import java.util.Map;

/**
 * One table of a report.
 *
 * @param title the title; empty if this is the report's only table
 * @param notes notes about all rows, in Markdown; may be empty
 * @param remarks notes about single rows, in a separate column, which is omitted if there are none
 */
public record Table(String title, String notes, Results results, Map<Row, String> remarks) {

    /** Creates a table without remarks. */
    public Table(String title, String notes, Results results) {
        this(title, notes, results, Map.of());
    }
}
