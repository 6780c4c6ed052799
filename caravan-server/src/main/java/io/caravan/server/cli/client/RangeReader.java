package io.caravan.server.cli.client;

import io.caravan.server.cli.client.Documents.Document;
import io.caravan.server.cli.client.Documents.Page;
import io.caravan.server.cli.client.Documents.Value;
import java.io.IOException;
import java.util.OptionalLong;

/**
 * Reads ranges of any length in pages, several of which are asked for ahead, so that the way to the server and back counts
 * once and not for each. What has been asked for waits in the server and in the sockets; only one page is in memory.
 */
final class RangeReader {
    private static final int PAGES_AHEAD = 16;

    private final Documents documents;
    private final byte[] name;

    /** Takes a value. */
    interface Sink {
        void take(Value value) throws IOException;
    }

    RangeReader(Documents documents, byte[] name) {
        this.documents = documents;
        this.name = name;
    }

    /**
     * Reads a range that exists.
     *
     * @param document of which it is to be
     * @throws ClientException when it has ceased to, after the values before it have been taken
     */
    void read(Document document, long from, long to, Sink sink) throws IOException {
        int pageValues = document.pageValues();
        OptionalLong id = OptionalLong.of(document.id());
        long asked = from;
        long next = from;
        while (next < to) {
            while (asked < to && asked - next < (long) PAGES_AHEAD * pageValues) {
                long count = Math.min(pageValues, to - asked);
                documents.ask(name, asked, count);
                asked += count;
            }
            Page page = documents.page();
            long wanted = Math.min(next + pageValues, to);
            if (page.next() != wanted || !page.id().equals(id)) {
                throw ClientException.otherState(
                        "the document was trimmed or deleted while it was read, at sequence " + next);
            }
            for (Value value : page.values()) {
                sink.take(value);
            }
            next = wanted;
        }
    }
}
