package io.caravan.server.cli.carry;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Passes a server's documents to a receiver, each in its state at one moment. Short documents are requested many at a
 * time. Long documents are read in pages, and read again from the start if they are trimmed in the meantime. Not
 * thread-safe.
 */
final class Exporter implements AutoCloseable {
    /** The size, in bytes, above which a document is read in pages. */
    private static final long SHORT_BYTES = 64 * 1024;

    private static final long SHORT_VALUES = 4096;
    /** The approximate number of value bytes that are requested at a time. */
    private static final long AHEAD_BYTES = 1024 * 1024;

    private static final int AHEAD_DOCUMENTS = 250;
    private static final int TRIES = 5;

    private final DocumentClient carrier;
    private final DocumentReceiver to;
    private final Progress progress;
    private final List<String> failures = new ArrayList<>();

    private record Described(byte[] name, Description document) {}

    /**
     * Creates an export from a server.
     *
     * @param carrier the connection to the server, which this export closes
     */
    Exporter(DocumentClient carrier, DocumentReceiver to, Progress progress) {
        this.carrier = carrier;
        this.to = to;
        this.progress = progress;
    }

    /** Returns messages about the documents that exist but could not be read. */
    List<String> failures() {
        return failures;
    }

    /** Passes on one document; returns false if it does not exist. */
    boolean one(byte[] name) throws IOException {
        return readInPages(name);
    }

    /**
     * Passes on all documents with this prefix that exist during the entire export.
     *
     * @param without names to skip
     */
    void all(byte[] prefix, Set<DocumentName> without) throws IOException {
        Names names = Names.before();
        do {
            names = carrier.scan(names, prefix);
            List<byte[]> wanted = names.names().stream()
                    .filter(name -> !without.contains(DocumentName.of(name)))
                    .toList();
            for (int at = 0; at < wanted.size(); at += AHEAD_DOCUMENTS) {
                some(wanted.subList(at, Math.min(wanted.size(), at + AHEAD_DOCUMENTS)));
            }
        } while (!names.last());
    }

    private void some(List<byte[]> names) throws IOException {
        List<Described> described = describe(names);
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
            readInPages(name);
        }
    }

    private static boolean isShort(Description document) {
        return document.bytes() >= 0 && document.bytes() <= SHORT_BYTES && document.count() <= SHORT_VALUES;
    }

    private List<Described> describe(List<byte[]> names) {
        names.forEach(carrier::askDescription);
        List<Described> described = new ArrayList<>();
        for (byte[] name : names) {
            Description document = described();
            if (document != null) {
                described.add(new Described(name, document));
            }
        }
        return described;
    }

    /** Receives a description; returns null for a document that was deleted in the meantime, or is not visible. */
    private @Nullable Description described() {
        try {
            return carrier.description();
        } catch (ClientException invisible) {
            if (invisible.isOtherState()) {
                return null;
            }
            throw invisible;
        }
    }

    /** Passes on short documents; adds those that change in the meantime to {@code later}. */
    private void readAtOnce(List<Described> wanted, List<byte[]> later) throws IOException {
        for (Described next : wanted) {
            if (next.document().count() > 0) {
                carrier.askValues(next.name(), next.document());
            }
        }
        for (Described next : wanted) {
            List<Value> values = List.of();
            try {
                values = next.document().count() > 0 ? carrier.values(next.document()) : values;
            } catch (ClientException changed) {
                if (!changed.isOtherState()) {
                    throw changed;
                }
                later.add(next.name());
                continue;
            }
            DocumentChecksum sum = begin(next.name(), next.document());
            for (Value value : values) {
                pass(sum, value);
            }
            end(sum);
        }
    }

    private DocumentChecksum begin(byte[] name, Description document) throws IOException {
        to.begin(name, document);
        return new DocumentChecksum(name, document);
    }

    private void pass(DocumentChecksum sum, Value value) throws IOException {
        sum.value(value.bytes());
        to.value(value.sequence(), value.bytes());
        progress.add(0, value.bytes().length);
    }

    private void end(DocumentChecksum sum) throws IOException {
        to.end(sum);
        progress.add(1, 0);
    }

    /** Passes on one document in pages; returns false if it does not exist. */
    private boolean readInPages(byte[] name) throws IOException {
        @Nullable ClientException last = null;
        for (int i = 0; i < TRIES; i++) {
            carrier.askDescription(name);
            Description document = described();
            if (document == null) {
                return false;
            }
            try {
                DocumentChecksum sum = begin(name, document);
                carrier.read(name, document, value -> pass(sum, value));
                end(sum);
                return true;
            } catch (ClientException changed) {
                to.abandon();
                if (!changed.isOtherState()) {
                    throw changed;
                }
                last = changed;
            }
        }
        failures.add("document '" + DocumentName.of(name) + "' changes too fast to be read: "
                + Objects.requireNonNull(last).getMessage());
        return true;
    }

    @Override
    public void close() {
        carrier.close();
    }
}
