package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Reply;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Passes a server's documents to a receiver, each in a consistent state. Short documents are requested many at a time.
 * Long documents are read in pages, and read again from the start if they are trimmed in the meantime. Not thread-safe.
 */
final class Exporter {
    /** The size, in bytes, above which a document is read in pages. */
    private static final long SHORT_BYTES = 64 * 1024;

    private static final long SHORT_VALUES = 4096;
    /** The approximate number of value bytes that are requested at a time. */
    private static final long AHEAD_BYTES = 1024 * 1024;

    private static final int TRIES = 5;

    private final DocumentClient source;
    private final DocumentReceiver to;
    private final Progress progress;
    private final List<String> failures = new ArrayList<>();

    private record Described(byte[] name, Description document) {}

    Exporter(DocumentClient source, DocumentReceiver to, Progress progress) {
        this.source = source;
        this.to = to;
        this.progress = progress;
    }

    /** Returns messages about the documents that exist but could not be read. */
    List<String> failures() {
        return failures;
    }

    /**
     * Exports all documents with this prefix that exist during the entire export.
     *
     * @param without names to skip
     */
    void all(byte[] prefix, Set<DocumentName> without) throws IOException {
        source.scanPrefix(
                prefix,
                names -> some(names.stream()
                        .filter(name -> !without.contains(DocumentName.of(name)))
                        .toList()));
    }

    private void some(List<byte[]> names) throws IOException {
        List<Reply<Description>> replies =
                names.stream().map(source::requestDescription).toList();
        List<Described> described = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            Description document = DocumentClient.visible(replies.get(i));
            if (document != null) {
                described.add(new Described(names.get(i), document));
            }
        }
        List<Described> ahead = new ArrayList<>();
        List<byte[]> inPages = new ArrayList<>();
        long aheadBytes = 0;
        for (Described next : described) {
            if (!isShort(next.document())) {
                inPages.add(next.name());
                continue;
            }
            if (aheadBytes + next.document().bytes() > AHEAD_BYTES) {
                readAtOnce(ahead, inPages);
                ahead.clear();
                aheadBytes = 0;
            }
            ahead.add(next);
            aheadBytes += next.document().bytes();
        }
        readAtOnce(ahead, inPages);
        for (byte[] name : inPages) {
            one(name);
        }
    }

    private static boolean isShort(Description document) {
        return document.bytes() >= 0 && document.bytes() <= SHORT_BYTES && document.count() <= SHORT_VALUES;
    }

    /** Exports short documents; adds those that change in the meantime to {@code later}. */
    private void readAtOnce(List<Described> wanted, List<byte[]> later) throws IOException {
        List<Reply<List<Value>>> replies = new ArrayList<>();
        for (Described next : wanted) {
            boolean empty = next.document().count() == 0;
            replies.add(empty ? List::of : source.requestValues(next.name(), next.document()));
        }
        for (int i = 0; i < wanted.size(); i++) {
            Described next = wanted.get(i);
            List<Value> values;
            try {
                values = Objects.requireNonNull(replies.get(i).receive());
            } catch (ClientException changed) {
                changed.ofDocument();
                later.add(next.name());
                continue;
            }
            to.begin(next.name(), next.document());
            for (Value value : values) {
                pass(value);
            }
            end();
        }
    }

    private void pass(Value value) throws IOException {
        to.value(value.bytes());
        progress.add(0, value.bytes().length);
    }

    private void end() throws IOException {
        to.end();
        progress.add(1, 0);
    }

    /** Exports one document in pages; returns false if it does not exist. */
    boolean one(byte[] name) throws IOException {
        String why = "";
        for (int i = 0; i < TRIES; i++) {
            Description document = DocumentClient.visible(source.requestDescription(name));
            if (document == null) {
                return false;
            }
            to.begin(name, document);
            try {
                source.read(name, document, this::pass);
            } catch (ClientException changed) {
                to.abandon();
                why = String.valueOf(changed.ofDocument().getMessage());
                continue;
            }
            end();
            return true;
        }
        failures.add("document '" + DocumentName.of(name) + "' changes too fast to be read: " + why);
        return true;
    }
}
