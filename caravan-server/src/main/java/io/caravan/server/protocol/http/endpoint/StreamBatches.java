package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Prefetch;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.connection.HttpAuthorizer;
import io.caravan.server.protocol.http.connection.HttpExchange;
import io.caravan.server.protocol.http.endpoint.BatchBody.Operation;
import io.caravan.server.protocol.http.endpoint.BatchBody.Result;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The endpoint for atomic writes to several streams. */
public final class StreamBatches {
    /** The operation name of the route that {@link #change} handles. */
    public static final String OPERATION = "writeBatch";

    private final Endpoints endpoints;

    public StreamBatches(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    /** Applies the operations in the body, in order, as one write. */
    public void change(HttpExchange exchange) {
        // Parsing and validating JSON may take a long time.
        endpoints.writeApart(exchange, documents -> {
            List<Operation> operations = BatchBody.parse(
                    exchange.request().body(),
                    endpoints.json(),
                    endpoints.config().maxBatchBytes());
            Set<DocumentName> names = new LinkedHashSet<>();
            operations.forEach(operation -> names.add(operation.name()));
            names.forEach(name -> HttpAuthorizer.checkDocument(exchange.principal(), Permission.WRITE, name));
            write(
                    documents,
                    names,
                    edits -> apply(operations, edits),
                    Endpoints.responding(
                            exchange,
                            results -> StreamResponses.withDurability(
                                    documents, names, Response.json(200, Map.of("operations", results)))));
        });
    }

    private void write(
            DocumentService documents,
            Set<DocumentName> names,
            Function<DocumentEdits, List<Result>> change,
            Outcome<List<Result>> outcome) {
        Prefetch preparation = new Prefetch(endpoints.config().maxBatchBytes());
        try {
            documents.write(names, change, preparation, outcome);
        } catch (UnpreparedException longJson) {
            documents.writeWaiting(names, change, preparation, outcome);
        }
    }

    private static List<Result> apply(List<Operation> operations, DocumentEdits edits) {
        List<Result> results = new ArrayList<>(operations.size());
        for (Operation operation : operations) {
            try {
                results.add(operation.apply().apply(edits.document(operation.name())));
            } catch (DocumentException | Problem rejected) {
                int number = results.size() + 1;
                throw Problem.of(rejected).about("nothing was written, because of operation " + number + ": ");
            }
        }
        return results;
    }
}
