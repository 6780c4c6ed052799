package io.caravan.server.cli.carry;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.document.DocumentImport.Replaced;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends documents to a server, and verifies each by reading it back. Short documents are sent many at a time, each in
 * one write. Long documents are sent in chunks, and become visible when complete. Not thread-safe. The caller calls
 * {@link #finish} after the last document.
 */
final class Importer implements DocumentReceiver, AutoCloseable {
    /** The approximate number of value bytes in one request; every server accepts a request of this size. */
    static final long PART_BYTES = 1024 * 1024;

    private static final int PART_VALUES = 4096;
    /** The assumed overhead of a value, in bytes. */
    private static final int OVERHEAD_BYTES = 64;

    private static final int AHEAD_DOCUMENTS = 250;

    /** The handling of a document whose name already exists at the server. */
    enum Existing {
        REJECT,
        SKIP,
        REPLACE;

        /** Returns the kind of existing document that may be replaced. */
        Replaced replaced() {
            return this == REPLACE ? Replaced.ANYTHING : Replaced.NOTHING;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    enum Outcome {
        BROUGHT,
        /** The server already had the document, and it is identical. */
        ALREADY,
        /** The server has another document of this name or, in a comparison, none. */
        SKIPPED,
        EXPIRED,
        REJECTED
    }

    interface Outcomes {
        /** Receives a document's outcome, and the reason if it was rejected. */
        void settled(byte[] name, Outcome outcome, String why);

        /** Receives the reason for a wait if the server limits the rate. */
        default void waits(String why) {}

        /** Receives a document whose copy on the server is identical. */
        default void same(byte[] name, Description here, Description there) {}
    }

    /** Passes on the reasons for rejections and for waiting. */
    static class Telling implements Outcomes {
        private final Consumer<String> to;

        Telling(Consumer<String> to) {
            this.to = to;
        }

        @Override
        public void settled(byte[] name, Outcome outcome, String why) {
            if (outcome == Outcome.REJECTED) {
                to.accept(why);
            }
        }

        @Override
        public void waits(String why) {
            to.accept(why);
        }
    }

    private final DocumentClient carrier;
    private final Existing existing;
    private final Replaced replaced;
    private final boolean resume;
    private final boolean compareOnly;
    private final Outcomes outcomes;
    private final Progress progress;
    private final RateLimitRetries patience;
    private final TransferTotals totals = new TransferTotals();
    private final List<PendingImport> ahead = new ArrayList<>();
    private long aheadBytes;
    private @Nullable PendingImport current;
    private long skipped;
    private long already;
    private long expired;
    private long refused;

    /**
     * Creates an import into a server.
     *
     * @param carrier the connection to the server, which this import closes
     * @param resume whether an identical document that already exists counts as imported
     */
    Importer(DocumentClient carrier, Existing existing, boolean resume, Outcomes outcomes, Progress progress) {
        this(carrier, existing, existing.replaced(), resume, false, outcomes, progress);
    }

    private Importer(
            DocumentClient carrier,
            Existing existing,
            Replaced replaced,
            boolean resume,
            boolean compareOnly,
            Outcomes outcomes,
            Progress progress) {
        this.carrier = carrier;
        this.existing = existing;
        this.replaced = replaced;
        this.resume = resume;
        this.compareOnly = compareOnly;
        this.outcomes = outcomes;
        this.progress = progress;
        this.patience = new RateLimitRetries(Retries.Pause.REAL, outcomes::waits);
    }

    /**
     * Creates an import that accepts identical existing documents, because a following copy will continue them.
     *
     * @param replaced the kind of existing document that may be replaced
     */
    static Importer following(
            DocumentClient carrier, Existing existing, Replaced replaced, Outcomes outcomes, Progress progress) {
        return new Importer(carrier, existing, replaced, true, false, outcomes, progress);
    }

    /**
     * Creates an import that sends nothing, and only compares documents with those of the server: each outcome is
     * {@link Outcome#ALREADY} or {@link Outcome#SKIPPED}.
     */
    static Importer comparing(DocumentClient carrier, Outcomes outcomes, Progress progress) {
        return new Importer(carrier, Existing.SKIP, Replaced.NOTHING, true, true, outcomes, progress);
    }

    @Override
    public void begin(byte[] name, Description document) {
        PendingImport arriving = new PendingImport(name, document);
        arriving.expired = arriving.hasExpired();
        arriving.problem = compareOnly ? ClientException.otherState("it was not sent") : null;
        current = arriving;
    }

    private PendingImport current() {
        return Objects.requireNonNull(current);
    }

    @Override
    public void value(long sequence, byte[] value) throws IOException {
        PendingImport document = current();
        progress.add(0, value.length);
        if (document.expired || document.problem != null) {
            return;
        }
        long more = value.length + OVERHEAD_BYTES;
        if (!document.values.isEmpty()
                && (document.bytes + more > PART_BYTES || document.values.size() == PART_VALUES)) {
            sendPart(document);
        }
        document.values.add(value);
        document.bytes += more;
    }

    private void sendPart(PendingImport document) throws IOException {
        sendAhead();
        try {
            if (document.id < 0) {
                document.id = patience.take(() -> carrier.begin(document.name, document.document, replaced));
            }
            patience.take(() -> carrier.add(
                    document.name, document.id, document.document.first() + document.sent, document.values));
        } catch (ClientException refusal) {
            document.problem = other(refusal);
        }
        document.sent += document.values.size();
        document.values = new ArrayList<>();
        document.bytes = 0;
    }

    /** Returns the rejection if the server may still accept other documents; otherwise throws it. */
    private static ClientException other(ClientException refusal) {
        if (!refusal.isOtherState()) {
            throw refusal;
        }
        return refusal;
    }

    @Override
    public void end(DocumentChecksum sum) throws IOException {
        PendingImport document = current();
        current = null;
        document.sum = sum;
        progress.add(1, 0);
        long bytes = compareOnly ? sum.bytes() : document.bytes;
        if (document.expired) {
            expire(document);
        } else if (document.id >= 0 || (compareOnly ? bytes > PART_BYTES : document.problem != null)) {
            endInParts(document);
        } else {
            ahead.add(document);
            aheadBytes += bytes;
            if (aheadBytes >= PART_BYTES || ahead.size() == AHEAD_DOCUMENTS) {
                sendAhead();
            }
        }
    }

    private void endInParts(PendingImport document) throws IOException {
        if (document.problem == null) {
            sendPart(document);
        }
        try {
            if (document.problem == null) {
                patience.take(() -> carrier.end(document.name, document.id, document.document.next()));
            }
        } catch (ClientException refusal) {
            document.problem = other(refusal);
        }
        if (document.problem != null && document.id >= 0) {
            carrier.abort(document.name, document.id);
        }
        settle(List.of(document));
    }

    @Override
    public void abandon() {
        PendingImport document = current();
        current = null;
        if (document.id >= 0) {
            carrier.abort(document.name, document.id);
        }
    }

    private void sendAhead() throws IOException {
        List<PendingImport> sent = List.copyOf(ahead);
        ahead.clear();
        aheadBytes = 0;
        if (!compareOnly) {
            create(sent);
        }
        settle(sent);
    }

    private void create(List<PendingImport> sent) {
        List<PendingImport> wanted = sent;
        while (!wanted.isEmpty()) {
            wanted = tryToCreate(wanted);
        }
        sent.forEach(document -> document.values = List.of());
    }

    /** Sends documents. Returns those that exceeded the rate limit, after waiting until they may be sent again. */
    private List<PendingImport> tryToCreate(List<PendingImport> sent) {
        for (PendingImport document : sent) {
            document.problem = null;
            carrier.askToTake(document.name, document.document, document.values, replaced);
        }
        @Nullable ClientException fatal = null;
        List<PendingImport> tooFast = new ArrayList<>();
        for (PendingImport document : sent) {
            try {
                carrier.taken();
                patience.taken();
            } catch (ClientException refusal) {
                document.problem = refusal;
                fatal = refusal.isOtherState() ? fatal : refusal;
                if (refusal.waitMillis() > 0) {
                    tooFast.add(document);
                }
            }
        }
        if (fatal != null) {
            throw fatal;
        }
        boolean again = !tooFast.isEmpty() && patience.waits(Objects.requireNonNull(tooFast.get(0).problem));
        return again ? tooFast : List.of();
    }

    /** Determines the outcome of documents that were sent or rejected, and compares them with those of the server. */
    private void settle(List<PendingImport> documents) throws IOException {
        documents.forEach(document -> carrier.askDescription(document.name));
        for (PendingImport document : documents) {
            document.there = described();
        }
        for (PendingImport document : documents) {
            if (document.readsAtOnce(resume)) {
                carrier.askValues(document.name, document.wanted());
            }
        }
        for (PendingImport document : documents) {
            boolean same = document.isComparable(resume) && sameValues(document);
            settle(document, same);
        }
    }

    private @Nullable Description described() {
        try {
            return carrier.description();
        } catch (ClientException invisible) {
            other(invisible);
            return null;
        }
    }

    private boolean sameValues(PendingImport document) throws IOException {
        DocumentChecksum found = new DocumentChecksum(document.name, document.wanted());
        try {
            if (document.readsAtOnce(resume)) {
                for (Value value : carrier.values(document.wanted())) {
                    found.value(value.bytes());
                }
            } else if (document.document.count() > 0) {
                carrier.read(document.name, document.wanted(), value -> found.value(value.bytes()));
            }
        } catch (ClientException changed) {
            other(changed);
            return false;
        }
        return found.crc32c().equals(document.sum().crc32c());
    }

    private void settle(PendingImport document, boolean same) {
        ClientException problem = document.problem;
        if (same) {
            outcomes.same(document.name, document.document, Objects.requireNonNull(document.there));
        }
        if (problem == null && same) {
            totals.add(document.sum());
            outcomes.settled(document.name, Outcome.BROUGHT, "");
        } else if (same) {
            already++;
            outcomes.settled(document.name, Outcome.ALREADY, "");
        } else if (document.hasExpired()) {
            expire(document);
        } else if (problem == null) {
            refuse(document, "is not what was sent: it was changed since, or is damaged");
        } else if (existing == Existing.SKIP && (compareOnly || document.there != null)) {
            skipped++;
            outcomes.settled(document.name, Outcome.SKIPPED, "");
        } else {
            refuse(document, "was not imported: " + problem.getMessage());
        }
    }

    private void expire(PendingImport document) {
        expired++;
        outcomes.settled(document.name, Outcome.EXPIRED, "");
    }

    private void refuse(PendingImport document, String why) {
        refused++;
        outcomes.settled(document.name, Outcome.REJECTED, "document '" + DocumentName.of(document.name) + "' " + why);
    }

    /** Waits until all documents are durable and have been compared. */
    void finish() throws IOException {
        sendAhead();
    }

    /** Returns the totals of the imported documents. */
    TransferTotals totals() {
        return totals;
    }

    long refused() {
        return refused;
    }

    String line(String done) {
        return done + " " + Figures.count(totals.documents(), "document") + ", "
                + Figures.count(totals.values(), "value") + ", " + Figures.size(totals.bytes())
                + some(already, "were there already") + some(skipped, "skipped") + some(expired, "had expired")
                + some(refused, "rejected");
    }

    static String some(long count, String what) {
        return count == 0 ? "" : "; " + count + " " + what;
    }

    void write(JsonGenerator json) throws IOException {
        totals.write(json);
        json.writeNumberField("already", already);
        json.writeNumberField("skipped", skipped);
        json.writeNumberField("expired", expired);
        json.writeNumberField("rejected", refused);
    }

    @Override
    public void close() {
        carrier.close();
    }
}
