package io.caravan.server.app;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.CreateRequest;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentService;
import java.util.List;
import java.util.OptionalLong;

/** Document operations for which no RESP command exists. */
public final class TestDocuments {

    private TestDocuments() {}

    /** Creates a document without values. */
    public static void create(DocumentService documents, String name, DocumentAttributes attributes) {
        documents.write(
                DocumentName.of(name),
                document -> {
                    document.attributes(attributes);
                    return 0;
                },
                new IgnoredOutcome<>());
    }

    public static void close(DocumentService documents, String name) {
        DocumentName document = DocumentName.of(name);
        documents.write(
                List.of(document),
                new AppendRequest(document, List.of(), true, null, null, null, OptionalLong.empty()),
                new IgnoredOutcome<>());
    }

    public static void fork(DocumentService documents, String source, String name, long sequence) {
        ForkPoint point = new ForkPoint(DocumentName.of(source), OptionalLong.of(sequence), 0);
        documents.create(
                DocumentName.of(name),
                new CreateRequest(null, OptionalLong.empty(), OptionalLong.empty(), false, List.of(), point),
                new IgnoredOutcome<>());
    }
}
