package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.document.DocumentImport.Replaced;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Synchronizes documents from one server to another. Transfers only the changes since the last pass, and verifies them
 * by reading them back. Its state does not depend on the connections, which may be lost and reopened.
 *
 * <p>If a server loses data that it has acknowledged, the comparison of complete documents ({@link #hasAll}) detects
 * the loss. Not thread-safe, except the counters.
 */
final class DocumentSync {
    private static final int PART_VALUES = 4096;
    /** The assumed overhead of a value, in bytes. */
    private static final int OVERHEAD_BYTES = 64;

    private final Existing existing;
    /** Whether a document, once it is fenced, may replace a redirect at the target. */
    private final boolean comesBack;

    private final RateLimitRetries patience;
    private final Map<DocumentName, SyncState> twins = new HashMap<>();
    /** Documents that are skipped because the target has other documents of the same names. */
    private final Set<DocumentName> skipped = new HashSet<>();

    private volatile long values;
    private volatile long bytes;

    /** Thrown if the target rejects a document. */
    static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RefusedException(ClientException refusal) {
            super(refusal.getMessage(), refusal);
        }

        RefusedException(String why) {
            super(why);
        }
    }

    /**
     * Creates a mirror without documents.
     *
     * @param existing the handling of a document whose name already exists at the target
     * @param comesBack whether a document may replace a redirect at the target
     */
    DocumentSync(Existing existing, boolean comesBack, RateLimitRetries patience) {
        this.existing = existing;
        this.comesBack = comesBack;
        this.patience = patience;
    }

    /** Adds a document that is identical at both servers. */
    void same(byte[] name, Description source, Description target) {
        twins.put(DocumentName.of(name), new SyncState(source, target.id(), source.next()));
    }

    /** Returns the names of the documents that both servers have. */
    Set<DocumentName> names() {
        return twins.keySet();
    }

    /** Makes the next pass compare every document completely. Called if the source may have another store. */
    void doubt() {
        twins.replaceAll((name, twin) ->
                new SyncState(twin.source(), twin.targetId(), twin.source().first()));
    }

    /** Whether a document is still the one that was copied before, and has lost no values. */
    boolean isContinued(DocumentName name, @Nullable Description now) {
        SyncState twin = twins.get(name);
        return twin == null
                || now != null
                        && now.id() == twin.source().id()
                        && now.next() >= twin.source().next();
    }

    /** Discards the state of a document that has been moved. */
    void forget(DocumentName name) {
        twins.remove(name);
    }

    /** Returns the number of values copied so far. */
    long values() {
        return values;
    }

    /** Returns the total length of the values copied so far. */
    long bytes() {
        return bytes;
    }

    /** Returns the number of values of a document that have not been copied yet. */
    long behind(DocumentName name, Description now) {
        SyncState twin = twins.get(name);
        return twin == null || twin.source().id() != now.id() ? now.count() : Math.max(0, now.next() - twin.same());
    }

    /** Whether this state of a document has been copied. */
    boolean isUpToDate(DocumentName name, @Nullable Description now) {
        SyncState twin = twins.get(name);
        if (skipped.contains(name)) {
            return true;
        }
        return now == null ? twin == null : twin != null && twin.isUpToDate(now);
    }

    /**
     * Synchronizes a document, and returns once the result is durable.
     *
     * @param now the document's description, or null if the document no longer exists
     * @throws ClientException if the document was trimmed or deleted in the meantime; a retry may succeed
     * @throws RefusedException if the target rejects the document, or has another one of this name
     */
    void bring(DocumentClient source, DocumentClient target, DocumentName name, @Nullable Description now)
            throws IOException {
        if (isUpToDate(name, now)) {
            return;
        }
        new Bringing(source, target, name, false).bring(now);
    }

    /** Synchronizes a fenced document like {@link #bring}, even to a server where it has left a redirect. */
    void bringFenced(DocumentClient source, DocumentClient target, DocumentName name, @Nullable Description now)
            throws IOException {
        if (!isUpToDate(name, now)) {
            new Bringing(source, target, name, true).bring(now);
        }
    }

    /**
     * Whether the target redirects clients to the document's current server. Only a fenced document may return to that
     * target; otherwise both the copy and the original would accept writes.
     */
    boolean waitsForFence(DocumentClient target, DocumentName name) {
        try {
            describe(target, name);
            return false;
        } catch (ClientException notSeen) {
            requireOther(notSeen);
            return comesBack && notSeen.isMoved();
        }
    }

    /**
     * Whether the target has all data of a fenced document. The copy may have additional values, if clients have
     * already found the copy. Reads and compares the values.
     *
     * @param found whether clients may have found the copy, and trimmed it
     * @throws ClientException if the document is not visible at the source
     */
    boolean hasAll(DocumentClient source, DocumentClient target, DocumentName name, boolean found) throws IOException {
        Description here = describe(source, name);
        Description there;
        try {
            there = describe(target, name);
        } catch (ClientException notSeen) {
            requireOther(notSeen);
            return false;
        }
        if (here == null || there == null || there.next() < here.next() || there.first() > here.next()) {
            return false;
        }
        if (there.next() == here.next() && !SyncState.isLike(here, there.from(Math.min(there.first(), here.first())))) {
            return false;
        }
        // If no values can be compared, the copy may be of another document.
        boolean brought = there.hasBrought(here, here.next());
        boolean comparable = there.first() <= here.first()
                ? here.count() > 0 || brought || isTwin(name, here, there)
                : found && brought;
        if (!comparable) {
            return false;
        }
        long first = Math.min(Math.max(here.first(), there.first()), here.next());
        return sum(source, name, here.from(first))
                .crc32c()
                .equals(sum(target, name, there.from(first).until(here.next())).crc32c());
    }

    /** Whether this run has copied an entire document to the target. */
    private boolean isTwin(DocumentName name, Description here, Description there) {
        SyncState twin = twins.get(name);
        return twin != null
                && twin.targetId() == there.id()
                && twin.source().id() == here.id()
                && twin.same() >= here.next();
    }

    private static DocumentChecksum sum(DocumentClient server, DocumentName name, Description range)
            throws IOException {
        byte[] raw = name.toBytes();
        DocumentChecksum sum = new DocumentChecksum(raw, range(0, range.first(), range.next(), 0));
        if (range.count() > 0) {
            server.read(raw, range, value -> sum.value(value.bytes()));
        }
        return sum;
    }

    private static void requireOther(ClientException refusal) {
        if (!refusal.isOtherState()) {
            throw refusal;
        }
    }

    static @Nullable Description describe(DocumentClient server, DocumentName name) {
        server.askDescription(name.toBytes());
        return server.description();
    }

    private static Description range(long id, long from, long to, long bytes) {
        return new Description(id, from, to, bytes, Map.of());
    }

    private final class Bringing {
        private final DocumentClient source;
        private final DocumentClient target;
        private final DocumentName name;
        private final byte[] raw;
        private final boolean fenced;

        Bringing(DocumentClient source, DocumentClient target, DocumentName name, boolean fenced) {
            this.fenced = fenced;
            this.source = source;
            this.target = target;
            this.name = name;
            this.raw = name.toBytes();
        }

        void bring(@Nullable Description now) throws IOException {
            SyncState twin = twins.get(name);
            if (now == null) {
                if (twin != null) {
                    delete(twin);
                }
                return;
            }
            Replaced place = Replaced.NOTHING;
            Description there = null;
            try {
                there = describe(target, name);
            } catch (ClientException notSeen) {
                // The document was moved, or is incomplete.
                requireOther(notSeen);
                if (notSeen.isMoved() && comesBack && !fenced) {
                    return;
                }
                place = !notSeen.isMoved() ? Replaced.NOTHING : comesBack ? Replaced.REDIRECT : existing.replaced();
            }
            if (there == null) {
                if (!PendingImport.expiresSoon(now)) {
                    create(now, place);
                }
            } else if (twin == null || twin.targetId() != there.id()) {
                adopt(now, there);
            } else if (twin.source().id() != now.id() || now.first() > there.next()) {
                requireBrought(twin, there, "replaced");
                create(now, Replaced.ANYTHING);
            } else if (now.next() < twin.same()) {
                wentBack(now, twin);
            } else {
                goOn(twin, now, there);
            }
        }

        private void delete(SyncState twin) {
            Description there = null;
            try {
                there = describe(target, name);
            } catch (ClientException notSeen) {
                requireOther(notSeen);
            }
            if (there != null && there.id() == twin.targetId()) {
                requireBrought(twin, there, "deleted");
                target.delete(raw, twin.targetId());
            }
            twins.remove(name);
        }

        /**
         * Throws an exception if other clients have written to the target, unless {@code --existing replace} is set.
         */
        private void requireBrought(SyncState twin, Description there, String what) {
            boolean brought = there.next() <= twin.same() || there.hasBrought(twin.source(), there.next());
            if (!brought && existing != Existing.REPLACE) {
                throw new RefusedException("document '" + name + "' was not " + what
                        + " there: somebody else has written to it, and only --existing replace drops that");
            }
        }

        /**
         * Handles a document that has lost values: its store was replaced by a backup, or has lost acknowledged writes.
         */
        private void wentBack(Description now, SyncState twin) throws IOException {
            if (existing != Existing.REPLACE) {
                throw new RefusedException("document '" + name + "' has gone back to sequence " + now.next() + " from "
                        + twin.same() + ", which only --existing replace does at the other server too");
            }
            create(now, Replaced.ANYTHING);
        }

        private void create(Description now, Replaced replaced) throws IOException {
            twins.remove(name);
            Parts parts = new Parts(target, raw, now, replaced, patience);
            DocumentChecksum sum = new DocumentChecksum(raw, range(0, now.first(), now.next(), 0));
            try {
                source.read(raw, now, value -> {
                    sum.value(value.bytes());
                    toTarget(() -> parts.add(value.bytes()));
                });
                toTarget(parts::end);
            } catch (ClientException | RefusedException unfinished) {
                parts.abandon();
                throw unfinished;
            }
            Description there = describe(target, name);
            if (there == null) {
                throw notTheSame();
            }
            compare(sum, range(there.id(), now.first(), now.next(), sum.bytes()));
            twins.put(name, new SyncState(now, there.id(), now.next()));
            count(sum);
        }

        private void count(DocumentChecksum sum) {
            values += sum.count();
            bytes += sum.bytes();
        }

        private void toTarget(Runnable request) {
            try {
                request.run();
            } catch (ClientException refusal) {
                requireOther(refusal);
                throw new RefusedException(refusal);
            }
        }

        private RefusedException notTheSame() {
            return new RefusedException("document '" + name
                    + "' is not what was sent: it was changed there, its space retains less, or it is damaged");
        }

        /** Reads values back, and compares them with those sent. */
        private void compare(DocumentChecksum sent, Description there) throws IOException {
            try {
                if (!sum(target, there).crc32c().equals(sent.crc32c())) {
                    throw notTheSame();
                }
            } catch (ClientException changed) {
                requireOther(changed);
                throw notTheSame();
            }
        }

        private DocumentChecksum sum(DocumentClient server, Description range) throws IOException {
            return DocumentSync.sum(server, name, range);
        }

        /** Resumes a copy that the target already has, if it is a prefix of this document. */
        private void adopt(Description now, Description there) throws IOException {
            // The target will trim values that the source no longer has, so they must be known to come from the source.
            boolean known = there.hasBrought(now, there.next());
            boolean mayBe = there.next() <= now.next()
                    && there.first() <= now.first()
                    && (known || there.count() > 0 && there.first() == now.first());
            if (mayBe && there.next() > now.first()) {
                Description common = now.until(there.next());
                mayBe = sum(source, common)
                        .crc32c()
                        .equals(sum(target, there.from(common.first())).crc32c());
            }
            if (mayBe && now.first() > there.next()) {
                create(now, Replaced.ANYTHING);
            } else if (mayBe) {
                goOn(new SyncState(now, there.id(), there.next()), now, there);
            } else if (existing == Existing.REPLACE) {
                create(now, Replaced.ANYTHING);
            } else if (existing == Existing.REJECT) {
                throw new RefusedException("document '" + name
                        + "' was not brought: there is another one of this name, which --existing replace replaces");
            } else {
                skipped.add(name);
            }
        }

        private void goOn(SyncState twin, Description now, Description there) throws IOException {
            if (there.next() > now.next()) {
                throw new RefusedException("document '" + name + "' has " + (there.next() - now.next())
                        + " values there that it was never sent: somebody else writes to it");
            }
            if (now.first() > twin.same()) {
                requireBrought(twin, there, "brought up to date");
            }
            // If a reply was lost, the target may have values that were not compared yet.
            long from = Math.max(twin.same(), now.first());
            if (there.next() > from) {
                compare(sum(source, now.from(from).until(there.next())), there.from(from));
            }
            DocumentChecksum sum = send(now, there);
            compare(sum, range(there.id(), there.next(), now.next(), sum.bytes()));
            twins.put(name, new SyncState(now, there.id(), now.next()));
            count(sum);
        }

        private DocumentChecksum send(Description now, Description there) throws IOException {
            DocumentChecksum sum = new DocumentChecksum(raw, range(0, there.next(), now.next(), 0));
            Description after = new Description(
                    there.id(), now.first(), now.next(), -1, now.attributes(), false, now.identity(), null);
            // The attributes change together with the last values.
            Description before = new Description(
                    there.id(), there.first(), now.next(), -1, there.attributes(), false, now.identity(), null);
            List<byte[]> part = new ArrayList<>();
            long[] partBytes = {0};
            if (now.next() > there.next()) {
                source.read(raw, now.from(there.next()), value -> {
                    long more = value.bytes().length + OVERHEAD_BYTES;
                    if (!part.isEmpty() && (partBytes[0] + more > Importer.PART_BYTES || part.size() == PART_VALUES)) {
                        send(before, value.sequence() - part.size(), part);
                        partBytes[0] = 0;
                    }
                    part.add(value.bytes());
                    partBytes[0] += more;
                    sum.value(value.bytes());
                });
            }
            send(after, now.next() - part.size(), part);
            return sum;
        }

        private void send(Description document, long sequence, List<byte[]> part) {
            List<byte[]> sent = List.copyOf(part);
            toTarget(() -> patience.take(() -> target.goOn(raw, document, sequence, sent)));
            part.clear();
        }
    }
}
