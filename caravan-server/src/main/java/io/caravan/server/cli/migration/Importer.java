package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.document.ImportStep.Replaced;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends documents to a server, and verifies each by reading it back. Short documents are sent many at a time, each in
 * one write. Long documents are sent in chunks, and become visible when complete. Not thread-safe. The caller calls
 * {@link #finish} after the last document. All copies, imports, and moves send complete documents in this way.
 */
final class Importer implements DocumentReceiver {
    private static final int AHEAD_DOCUMENTS = 250;
    /** The reason for rejecting a document that differs, when read back, from what was sent. */
    static final String NOT_THE_SAME =
            "is not what was sent: it was changed there, its space retains fewer values, or it is damaged";

    /** The reason for rejecting a document whose name belongs to another document on the server. */
    static final String NAME_TAKEN =
            "was not imported: there is another document of this name, which --existing replace replaces";

    /** The handling of a document whose name already exists on the server. */
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
        SENT,
        /** The server already had the document, and it is identical. */
        ALREADY,
        /** The server has another document with this name or, in a comparison, none. */
        DIFFERENT,
        EXPIRED,
        REJECTED
    }

    /** Receives the outcome for each document. */
    interface Listener {
        /**
         * Receives the outcome for a document.
         *
         * @param why the reason, if the document was rejected
         */
        void settled(Upload document, Outcome outcome, String why);
    }

    private final DocumentClient target;
    private final Existing existing;
    private final boolean resume;
    private final RateLimitRetries retries;
    private final Listener listener;
    private Replaced replaced;
    private boolean compareOnly;
    private boolean streams;
    private final List<Upload> ahead = new ArrayList<>();
    private long aheadBytes;
    private @Nullable Upload current;

    /**
     * Creates an import into a server.
     *
     * @param resume whether an identical document that already exists counts as imported
     */
    Importer(DocumentClient target, Existing existing, boolean resume, RateLimitRetries retries, Listener listener) {
        this.target = target;
        this.existing = existing;
        this.resume = resume;
        this.retries = retries;
        this.listener = listener;
        this.replaced = existing.replaced();
    }

    /** Allows documents to replace existing ones of this kind. */
    Importer replacing(Replaced kind) {
        replaced = kind;
        return this;
    }

    /**
     * Makes this import only compare documents with those on the server, without sending any. Each outcome is
     * {@link Outcome#ALREADY} or {@link Outcome#DIFFERENT}.
     */
    Importer comparing() {
        compareOnly = true;
        return this;
    }

    /** Declares that the documents are streams; see {@link Upload}. */
    Importer ofStreams() {
        streams = true;
        return this;
    }

    @Override
    public void begin(byte[] name, Description document) {
        current = new Upload(target, name, document, streams);
        if (compareOnly) {
            current.reject(ClientException.otherState("it was not sent"));
        }
    }

    /** Returns the reason if the server has already rejected the current document, otherwise null. */
    @Nullable
    String rejection() {
        ClientException problem = current().problem();
        return problem == null ? null : rejection(current(), "was not imported: " + problem.getMessage());
    }

    private static String rejection(Upload document, String why) {
        return "document '" + DocumentName.of(document.name()) + "' " + why;
    }

    private Upload current() {
        return Objects.requireNonNull(current);
    }

    @Override
    public void value(long sequence, byte[] value) throws IOException {
        Upload document = current();
        if (document.hasExpired()) {
            return;
        }
        if (!document.hasRoomFor(value)) {
            sendAhead();
            document.sendChunk(replaced, retries);
        }
        document.add(value);
    }

    @Override
    public void end() throws IOException {
        Upload document = current();
        current = null;
        if (document.hasExpired()) {
            listener.settled(document, Outcome.EXPIRED, "");
            return;
        }
        if (document.isLong()) {
            document.finish(replaced, retries);
            settle(List.of(document));
            return;
        }
        ahead.add(document);
        aheadBytes += document.bytes();
        if (aheadBytes >= Chunk.MAX_BYTES || ahead.size() == AHEAD_DOCUMENTS) {
            sendAhead();
        }
    }

    @Override
    public void abandon() {
        current().abandon();
        current = null;
    }

    private void sendAhead() throws IOException {
        List<Upload> sent = List.copyOf(ahead);
        ahead.clear();
        aheadBytes = 0;
        for (List<Upload> wanted = compareOnly ? List.of() : sent; !wanted.isEmpty(); ) {
            wanted = create(wanted);
        }
        sent.forEach(Upload::discardValues);
        settle(sent);
    }

    /** Sends documents. Returns those that exceeded the rate limit, after waiting until they may be sent again. */
    private List<Upload> create(List<Upload> sent) {
        sent.forEach(document -> document.requestCreation(replaced));
        @Nullable ClientException fatal = null;
        List<Upload> tooFast = new ArrayList<>();
        for (Upload document : sent) {
            try {
                target.taken();
                retries.accepted();
            } catch (ClientException rejection) {
                document.reject(rejection);
                fatal = rejection.isOtherState() ? fatal : rejection;
                if (rejection.waitMillis() > 0) {
                    tooFast.add(document);
                }
            }
        }
        if (fatal != null) {
            throw fatal;
        }
        boolean again = !tooFast.isEmpty()
                && retries.waits(Objects.requireNonNull(tooFast.get(0).problem()));
        return again ? tooFast : List.of();
    }

    /** Compares documents that were sent or rejected with those on the server, and reports the outcomes. */
    private void settle(List<Upload> documents) throws IOException {
        documents.forEach(document -> target.requestDescription(document.name()));
        documents.forEach(Upload::find);
        documents.forEach(document -> document.readAhead(resume));
        for (Upload document : documents) {
            settle(document, document.isSame(resume));
        }
    }

    private void settle(Upload document, boolean same) {
        ClientException problem = document.problem();
        if (same) {
            listener.settled(document, problem == null ? Outcome.SENT : Outcome.ALREADY, "");
        } else if (document.expiresSoon()) {
            listener.settled(document, Outcome.EXPIRED, "");
        } else if (problem != null && existing == Existing.SKIP && (compareOnly || document.exists())) {
            listener.settled(document, Outcome.DIFFERENT, "");
        } else {
            String why = problem == null ? NOT_THE_SAME : "was not imported: " + problem.getMessage();
            listener.settled(document, Outcome.REJECTED, rejection(document, why));
        }
    }

    /** Waits until all documents are durable and have been compared. */
    void finish() throws IOException {
        sendAhead();
    }
}
