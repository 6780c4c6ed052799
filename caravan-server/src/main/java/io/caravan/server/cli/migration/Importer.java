package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.Chunk;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Reply;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.ImportStep.Replaced;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends documents to a server, and verifies each by reading it back. Short documents are sent many at a time, each in
 * one write. Long documents are sent in chunks, and become visible when complete. A copy that the server has already
 * can be continued. Not thread-safe. The caller calls {@link #finish} after the last document. All copies, imports, and
 * moves send documents in this way.
 */
final class Importer implements DocumentReceiver {
    private static final int AHEAD_DOCUMENTS = 250;
    /** The maximum difference between two measured expiry times of the same document. */
    private static final long EXPIRY_TOLERANCE_MILLIS = 2_000;

    static final String CONTENT_TYPE = "content-type";
    static final String EXPIRES = "expires";

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
        /** The server has another document with this name. */
        DIFFERENT,
        EXPIRED,
        REJECTED
    }

    private interface Reading {
        void read(DocumentChecksum sink) throws IOException;
    }

    interface Listener {
        /** Receives the outcome for a document, and the reason if it was rejected. */
        void settled(Upload document, Outcome outcome, String why);
    }

    private final DocumentClient target;
    private final Existing existing;
    private final RateLimitRetries retries;
    private final Listener listener;
    private Replaced replaced;
    private boolean streams;
    private final List<Upload> ahead = new ArrayList<>();
    private long aheadBytes;
    private @Nullable Upload current;

    Importer(DocumentClient target, Existing existing, RateLimitRetries retries, Listener listener) {
        this.target = target;
        this.existing = existing;
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
     * Declares that the documents are streams: only the attributes of a stream are known, and the boundaries between
     * its values count only if the content type is JSON.
     */
    Importer ofStreams() {
        streams = true;
        return this;
    }

    @Override
    public void begin(byte[] name, Description document) {
        current = new Upload(name, document, null);
    }

    /**
     * Begins to continue a copy of a document. The caller passes only the values after those of the copy, of which the
     * caller has verified that they are a prefix of the document.
     */
    void continueCopy(byte[] name, Description document, Description copy) {
        current = new Upload(name, document, copy);
    }

    /** Returns the reason if the server has already rejected the current document, otherwise null. */
    @Nullable
    String rejection() {
        ClientException problem = current().problem;
        return problem == null ? null : current().rejection(problem);
    }

    private Upload current() {
        return Objects.requireNonNull(current);
    }

    @Override
    public void value(byte[] value) throws IOException {
        Upload document = current();
        if (document.hasExpired) {
            return;
        }
        if (!document.chunk.hasRoomFor(value)) {
            finish();
            document.sendChunk(false);
        }
        document.add(value);
    }

    @Override
    public void end() throws IOException {
        Upload document = current();
        current = null;
        if (document.hasExpired) {
            listener.settled(document, Outcome.EXPIRED, "");
            return;
        }
        if (document.isLong) {
            document.finish();
            settle(List.of(document));
            return;
        }
        ahead.add(document);
        aheadBytes += document.chunk.bytes();
        if (aheadBytes >= Chunk.MAX_BYTES || ahead.size() == AHEAD_DOCUMENTS) {
            finish();
        }
    }

    @Override
    public void abandon() {
        current().abandon();
        current = null;
    }

    /** Sends the documents that are ready, and waits until they are durable and have been compared. */
    void finish() throws IOException {
        List<Upload> sent = List.copyOf(ahead);
        ahead.clear();
        aheadBytes = 0;
        for (List<Upload> wanted = sent; !wanted.isEmpty(); ) {
            wanted = create(wanted);
        }
        sent.forEach(document -> document.chunk.take());
        settle(sent);
    }

    /** Sends documents. Returns those that exceeded the rate limit, after waiting until they may be sent again. */
    private List<Upload> create(List<Upload> sent) {
        List<Reply<Long>> replies = sent.stream().map(Upload::requestCreation).toList();
        @Nullable ClientException fatal = null;
        List<Upload> tooFast = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            Upload document = sent.get(i);
            try {
                replies.get(i).receive();
                retries.accepted();
            } catch (ClientException rejection) {
                document.problem = rejection;
                fatal = rejection.isOtherState() ? fatal : rejection;
                if (rejection.waitMillis() > 0) {
                    tooFast.add(document);
                }
            }
        }
        if (fatal != null) {
            throw fatal;
        }
        boolean again = !tooFast.isEmpty() && retries.waits(Objects.requireNonNull(tooFast.get(0).problem));
        return again ? tooFast : List.of();
    }

    /** Compares documents that were sent or rejected with those on the server, and reports the outcomes. */
    private void settle(List<Upload> documents) throws IOException {
        List<Reply<Description>> replies = documents.stream()
                .map(document -> target.requestDescription(document.name))
                .toList();
        for (int i = 0; i < documents.size(); i++) {
            documents.get(i).there = DocumentClient.visible(replies.get(i));
        }
        documents.forEach(Upload::readAhead);
        // The other documents are read after these replies, because both use the same connection.
        for (Upload document : documents) {
            document.receiveAhead();
        }
        for (Upload document : documents) {
            settle(document, document.isSame());
        }
    }

    private void settle(Upload document, boolean same) {
        ClientException problem = document.problem;
        if (same) {
            listener.settled(document, problem == null ? Outcome.SENT : Outcome.ALREADY, "");
        } else if (expiresSoon(document.document)) {
            listener.settled(document, Outcome.EXPIRED, "");
        } else if (problem != null && document.there != null && skips()) {
            listener.settled(document, Outcome.DIFFERENT, "");
        } else {
            listener.settled(document, Outcome.REJECTED, document.rejection(problem));
        }
    }

    private boolean skips() {
        return existing == Existing.SKIP && replaced == Replaced.NOTHING;
    }

    /** Whether a document has expired, or will expire within two seconds. */
    static boolean expiresSoon(Description document) {
        return document.attributes().get(EXPIRES) instanceof Long millis
                && millis - EXPIRY_TOLERANCE_MILLIS <= System.currentTimeMillis();
    }

    /** Returns the content type; documents created over RESP have no such attribute. */
    static String contentType(Description document) {
        return document.attributes().get(CONTENT_TYPE) instanceof byte[] type
                ? new String(type, UTF_8)
                : DocumentAttributes.DEFAULT_CONTENT_TYPE;
    }

    /**
     * Whether two documents have the same attributes, except for a difference of up to this tolerance in the expiry
     * time.
     */
    static boolean isAlike(Map<String, Object> one, Map<String, Object> other, long toleranceMillis) {
        return one.keySet().equals(other.keySet())
                && one.entrySet().stream()
                        .allMatch(attribute -> isAlike(
                                attribute.getValue(),
                                Objects.requireNonNull(other.get(attribute.getKey())),
                                attribute.getKey().equals(EXPIRES) ? toleranceMillis : 0));
    }

    private static boolean isAlike(Object one, Object other, long tolerance) {
        return tolerance > 0 && one instanceof Long number && other instanceof Long otherNumber
                ? Math.abs(number - otherNumber) <= tolerance
                : Arrays.equals(Description.encoded(one), Description.encoded(other));
    }

    /**
     * A document being sent, and the server's document with that name after the upload. A short document is sent in one
     * write. A longer one is sent in chunks, and becomes visible after its last chunk. A copy is continued in chunks,
     * each of which becomes visible at once.
     */
    final class Upload {
        private final byte[] name;
        /** The copy to continue; null if the document is created. */
        private final @Nullable Description copy;

        /** The sequence of the first value to send. */
        private final long from;
        /** Whether the document had expired, or was about to, when the upload began, so that it must not be sent. */
        private final boolean hasExpired;

        private final DocumentChecksum sum;
        private final Chunk chunk = new Chunk();
        private Description document;
        /** The document's id on the server if it is sent in chunks, otherwise -1. */
        private long id = -1;

        private boolean isLong;
        /** The reason why the document was not sent, or null if it was sent. */
        private @Nullable ClientException problem;

        private @Nullable Description there;
        /** The server's values, if they have been requested in one reply. */
        private @Nullable Reply<List<Value>> values;

        /** Whether the values in that reply are the same. */
        private boolean same;

        private Upload(byte[] name, Description document, @Nullable Description copy) {
            this.name = name;
            this.copy = copy;
            this.from = copy == null ? document.first() : copy.next();
            this.document = document.until(from);
            this.hasExpired = copy == null && expiresSoon(document);
            this.isLong = copy != null;
            this.sum = new DocumentChecksum(!streams || ContentTypes.isJson(contentType(document)));
        }

        byte[] name() {
            return name;
        }

        /** Returns the description of the document at the source, up to the last value received so far. */
        Description description() {
            return document;
        }

        DocumentChecksum sum() {
            return sum;
        }

        /** Returns the reason why the server has rejected the document; null if it was sent. */
        @Nullable
        ClientException problem() {
            return problem;
        }

        /** Whether the server has a visible document of this name. */
        boolean exists() {
            return there != null;
        }

        /** Returns the description of the document on the server, if it exists. */
        Description there() {
            return Objects.requireNonNull(there);
        }

        void add(byte[] value) {
            chunk.add(value);
            sum.value(value);
            document = document.until(document.next() + 1);
        }

        /** Describes why the server rejected the document, or that its values differ there. */
        private String rejection(@Nullable ClientException why) {
            String what = copy == null ? "was not imported: " : "was not updated: ";
            return "document '" + DocumentName.of(name) + "' " + (why == null ? NOT_THE_SAME : what + why.getMessage());
        }

        /** Sends a chunk of a long document. */
        private void sendChunk(boolean last) {
            isLong = true;
            List<byte[]> values = chunk.take();
            long first = document.next() - values.size();
            if (copy != null) {
                step(() -> target.continueImport(name, state(copy, last), first, values));
                return;
            }
            if (id < 0) {
                step(() -> id = target.begin(name, document, replaced));
            }
            step(() -> target.step(name, Kind.ADD, List.of(id, first), values));
        }

        /** Performs a step, unless an earlier one was rejected. */
        private void step(Runnable step) {
            try {
                if (problem == null) {
                    retries.run(step);
                }
            } catch (ClientException rejection) {
                problem = rejection.ofDocument();
            }
        }

        /**
         * Returns the first sequence and the attributes of the copy after a chunk; those of the source come with the
         * last chunk. The first sequence is never after that of the source, so that the server detects that it lacks
         * values.
         */
        private Description state(Description before, boolean last) {
            long first = last ? document.first() : Math.min(before.first(), document.first());
            Map<String, Object> attributes = last ? document.attributes() : before.attributes();
            return new Description(
                    before.id(), first, document.next(), -1, attributes, false, document.identity(), null);
        }

        /** Sends the last chunk of a long document, and makes the document visible. */
        private void finish() {
            sendChunk(true);
            if (copy == null) {
                step(() -> target.step(name, Kind.END, List.of(id, document.next()), List.of()));
            }
            if (problem != null) {
                abandon();
            }
        }

        void abandon() {
            if (id >= 0) {
                target.step(name, Kind.ABORT, List.of(id), List.of());
            }
        }

        Reply<Long> requestCreation() {
            problem = null;
            return target.requestImport(name, document, chunk.values(), replaced);
        }

        /**
         * Whether the server's document may be a copy of this one. If this document was sent, the server's may be
         * longer, because of later appends. If it was not sent, both must end at the same sequence. A copy that was
         * continued may lack values that it has lost before.
         */
        private boolean isComparable() {
            if (there == null) {
                return false;
            }
            boolean other = copy == null ? there.first() != document.first() : there.id() != copy.id();
            if (other || copy != null && problem != null) {
                return false;
            }
            boolean sent = problem == null;
            boolean ends = sent ? there.next() >= document.next() : there.next() == range().next();
            return ends
                    && (sent && !streams || isAlike(attributes(document), attributes(there), EXPIRY_TOLERANCE_MILLIS));
        }

        /** Returns the attributes to compare. For a stream, these are only the attributes that its server reports. */
        private Map<String, Object> attributes(Description of) {
            Map<String, Object> attributes = new HashMap<>(of.attributes());
            attributes.putIfAbsent(CONTENT_TYPE, DocumentAttributes.DEFAULT_CONTENT_TYPE.getBytes(UTF_8));
            if (streams) {
                attributes.keySet().retainAll(List.of(CONTENT_TYPE, EXPIRES, "ttl", "closed"));
                attributes.replace("closed", new byte[0]);
            }
            return attributes;
        }

        /** Returns the range of the server's document to compare with this one. */
        private Description range() {
            boolean bounded = problem == null || sum.isBounded();
            return bounded ? there().from(from).until(document.next()) : there();
        }

        /** Requests the values of the server's document, if they fit into one reply and are needed. */
        void readAhead() {
            boolean isShort = isComparable() && there().bytes() >= 0 && there().bytes() <= Chunk.MAX_BYTES;
            values = isShort && range().count() > 0 ? target.requestValues(name, range()) : null;
        }

        /** Receives the values that were requested, and compares them. */
        void receiveAhead() throws IOException {
            Reply<List<Value>> reply = values;
            if (reply != null) {
                same = isSame(
                        sink -> Objects.requireNonNull(reply.receive()).forEach(value -> sink.value(value.bytes())));
            }
        }

        /** Whether the server's document is the same; reads it if its values were not requested. */
        boolean isSame() throws IOException {
            if (values != null || !isComparable()) {
                return same;
            }
            return isSame(sink -> target.read(name, range(), value -> sink.value(value.bytes())));
        }

        private boolean isSame(Reading reading) throws IOException {
            DocumentChecksum found = new DocumentChecksum(sum.isBounded());
            try {
                reading.read(found);
            } catch (ClientException changed) {
                changed.ofDocument();
                return false;
            }
            return found.isSame(sum);
        }
    }
}
