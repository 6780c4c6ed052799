package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.ImportStep.Replaced;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
    private final ReconnectingClients servers;
    private final Existing existing;
    /** Whether a document, once it is fenced, may replace a redirect at the target. */
    private final boolean returns;

    private final RateLimitRetries retries;
    private final Map<DocumentName, Copy> copies = new HashMap<>();
    /** Documents that are skipped because the target has other documents with the same names. */
    private final Set<DocumentName> skipped = new HashSet<>();

    private volatile long values;
    private volatile long bytes;

    static final class RejectedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RejectedException(String why) {
            super(why);
        }
    }

    /**
     * A document that exists on both servers.
     *
     * @param source the document's description at the source when it was last copied
     * @param targetId the document's id at the target
     * @param same the sequence up to which both have the same values
     * @param seen the document's description at the source when it was last copied or was to replace the copy
     */
    private record Copy(Description source, long targetId, long same, Description seen) {
        boolean isUpToDate(Description now) {
            return now.id() == source.id() && same == now.next() && isLike(source, now);
        }
    }

    DocumentSync(ReconnectingClients servers, Existing existing, boolean returns, RateLimitRetries retries) {
        this.servers = servers;
        this.existing = existing;
        this.returns = returns;
        this.retries = retries;
    }

    void addCopy(DocumentName name, Description source, Description target) {
        copies.put(name, new Copy(source, target.id(), source.next(), source));
    }

    /** Returns the names of the documents that both servers have. */
    Set<DocumentName> names() {
        return copies.keySet();
    }

    /**
     * Makes the next pass compare every document completely. Called if the store of the source may have been replaced.
     */
    void compareAgain() {
        copies.replaceAll((name, copy) ->
                new Copy(copy.source(), copy.targetId(), copy.source().first(), copy.seen()));
    }

    /** Whether this is the document that was last seen at the source, and has lost no values since. */
    boolean isContinued(DocumentName name, @Nullable Description now) {
        Copy copy = copies.get(name);
        return copy == null
                || now != null
                        && now.id() == copy.seen().id()
                        && now.next() >= copy.seen().next();
    }

    /** Discards the state of a document that has been moved. */
    void forget(DocumentName name) {
        copies.remove(name);
    }

    long values() {
        return values;
    }

    long bytes() {
        return bytes;
    }

    long missing(DocumentName name, Description now) {
        Copy copy = copies.get(name);
        return copy == null || copy.source().id() != now.id() ? now.count() : Math.max(0, now.next() - copy.same());
    }

    /** Whether this state of a document has been copied. */
    boolean isUpToDate(DocumentName name, @Nullable Description now) {
        Copy copy = copies.get(name);
        return skipped.contains(name) || (now == null ? copy == null : copy != null && copy.isUpToDate(now));
    }

    /**
     * Synchronizes a document, and returns once the result is durable.
     *
     * @param now the document's description, or null if the document no longer exists
     * @param fenced whether the document is fenced, so that it may return to a server where it has left a redirect
     * @throws ClientException if the document was trimmed or deleted in the meantime; a retry may succeed
     * @throws RejectedException if the target rejects the document, or has another one of this name
     */
    void synchronize(DocumentName name, @Nullable Description now, boolean fenced) throws IOException {
        Copy copy = copies.get(name);
        if (isUpToDate(name, now)) {
            return;
        }
        if (now == null) {
            delete(name, Objects.requireNonNull(copy));
            return;
        }
        Replaced replaced = Replaced.NOTHING;
        Description there = null;
        try {
            there = servers.target().descriptionOf(name.toBytes());
        } catch (ClientException notVisible) {
            // The document was moved, or is incomplete.
            if (notVisible.ofDocument().kind() == ClientException.Kind.MOVED) {
                if (returns && !fenced) {
                    return;
                }
                replaced = returns ? Replaced.REDIRECT : existing.replaced();
            }
        }
        if (there == null) {
            create(name, now, replaced);
        } else if (copy == null || copy.targetId() != there.id()) {
            adopt(name, now, there);
        } else if (copy.source().id() != now.id() || now.first() > there.next()) {
            requireUnchanged(name, copy, there, "replaced");
            create(name, now, Replaced.ANYTHING);
        } else if (now.next() < copy.same()) {
            // The document's store was replaced by a backup, or has lost acknowledged writes.
            if (existing != Existing.REPLACE) {
                throw rejected(
                        name,
                        "has returned from sequence " + copy.same() + " to " + now.next()
                                + "; --existing replace makes the copy at the other server return, too");
            }
            create(name, now, Replaced.ANYTHING);
        } else {
            append(name, copy, now, there);
        }
    }

    /**
     * Whether the target redirects clients to the document's current server. Only a fenced document may return to that
     * target; otherwise both the copy and the original would accept writes.
     */
    boolean waitsForFence(DocumentName name) {
        try {
            servers.target().descriptionOf(name.toBytes());
            return false;
        } catch (ClientException notVisible) {
            return notVisible.ofDocument().kind() == ClientException.Kind.MOVED && returns;
        }
    }

    /**
     * Whether the target has the complete content of a fenced document. The copy may have additional values if clients
     * have already found and extended it. Reads and compares the values.
     *
     * @param found whether clients may have found the copy, and trimmed it
     * @throws ClientException if the document is not visible at the source
     */
    boolean hasAll(DocumentName name, boolean found) throws IOException {
        Description here = servers.source().descriptionOf(name.toBytes());
        Description there = DocumentClient.visible(servers.target().requestDescription(name.toBytes()));
        if (here == null || there == null || there.next() < here.next()) {
            return false;
        }
        if (there.next() == here.next() && !isLike(here, there.from(Math.min(there.first(), here.first())))) {
            return false;
        }
        // If no values can be compared, the copy may be of another document.
        boolean received = there.hasCopied(here, here.next());
        boolean comparable = there.first() <= here.first()
                ? here.count() > 0 || received || isCopied(name, here, there)
                : found && received;
        if (!comparable) {
            return false;
        }
        long first = Math.min(Math.max(here.first(), there.first()), here.next());
        return isSame(name, here, there, first, here.next());
    }

    /** Whether this run has copied an entire document to the target. */
    private boolean isCopied(DocumentName name, Description here, Description there) {
        Copy copy = copies.get(name);
        return copy != null
                && copy.targetId() == there.id()
                && copy.source().id() == here.id()
                && copy.same() >= here.next();
    }

    /** Whether two documents have the same range of sequences and the same attributes. */
    private static boolean isLike(Description one, Description other) {
        return one.first() == other.first()
                && one.next() == other.next()
                && Importer.isAlike(one.attributes(), other.attributes(), 0);
    }

    private void delete(DocumentName name, Copy copy) {
        Description there = DocumentClient.visible(servers.target().requestDescription(name.toBytes()));
        if (there != null && there.id() == copy.targetId()) {
            requireUnchanged(name, copy, there, "deleted");
            servers.target().step(name.toBytes(), Kind.DELETE, List.of(copy.targetId()), List.of());
        }
        copies.remove(name);
    }

    /**
     * Throws an exception if other clients have written to the target, unless {@code --existing replace} is set.
     */
    private void requireUnchanged(DocumentName name, Copy copy, Description there, String what) {
        boolean unchanged = there.next() <= copy.same() || there.hasCopied(copy.source(), there.next());
        if (!unchanged && existing != Existing.REPLACE) {
            throw rejected(
                    name,
                    "was not " + what
                            + " there: another client has written to it; --existing replace discards these writes");
        }
    }

    private static RejectedException rejected(DocumentName name, String why) {
        return new RejectedException("document '" + name + "' " + why);
    }

    private void create(DocumentName name, Description now, Replaced replaced) throws IOException {
        Copy before = copies.remove(name);
        Importer importer = importer(name, now).replacing(replaced);
        importer.begin(name.toBytes(), now);
        try {
            transfer(name, now, importer);
        } finally {
            if (before != null) {
                // The earlier copy stays if the document is about to expire, is rejected, or is changing. The next pass
                // must know that this copy is not another client's document, and that the source has replaced its own.
                copies.putIfAbsent(name, new Copy(before.source(), before.targetId(), before.same(), now));
            }
        }
    }

    private Importer importer(DocumentName name, Description now) {
        return new Importer(servers.target(), Existing.REJECT, retries, (document, outcome, why) -> {
            switch (outcome) {
                case SENT -> {
                    addCopy(name, now, document.there());
                    values += document.sum().count();
                    bytes += document.sum().bytes();
                }
                // Another command has copied the document in the meantime.
                case ALREADY -> addCopy(name, now, document.there());
                case EXPIRED -> {}
                default -> throw new RejectedException(why);
            }
        });
    }

    /** Passes these values to an importer, in which the document has begun, until they are durable and compared. */
    private void transfer(DocumentName name, Description range, Importer importer) throws IOException {
        try {
            servers.source().read(name.toBytes(), range, value -> {
                importer.value(value.bytes());
                String rejection = importer.rejection();
                if (rejection != null) {
                    throw new RejectedException(rejection);
                }
            });
        } catch (ClientException | RejectedException unfinished) {
            importer.abandon();
            throw unfinished;
        }
        importer.end();
        importer.finish();
    }

    private boolean isSame(DocumentName name, Description here, Description there, long from, long to)
            throws IOException {
        return sum(servers.source(), name, here, from, to).isSame(sum(servers.target(), name, there, from, to));
    }

    private static DocumentChecksum sum(
            DocumentClient server, DocumentName name, Description document, long from, long to) throws IOException {
        DocumentChecksum sum = new DocumentChecksum(true);
        server.read(name.toBytes(), document.from(from).until(to), value -> sum.value(value.bytes()));
        return sum;
    }

    /** Continues a copy that the target already has, if it is a prefix of this document. */
    private void adopt(DocumentName name, Description now, Description there) throws IOException {
        // The target will trim values that the source no longer has, so they must be known to come from the source.
        boolean known = there.hasCopied(now, there.next());
        boolean isPrefix = there.next() <= now.next()
                && there.first() <= now.first()
                && (known || there.count() > 0 && there.first() == now.first())
                && (there.next() <= now.first() || isSame(name, now, there, now.first(), there.next()));
        if (isPrefix && now.first() <= there.next()) {
            append(name, new Copy(now, there.id(), there.next(), now), now, there);
        } else if (isPrefix || existing == Existing.REPLACE) {
            create(name, now, Replaced.ANYTHING);
        } else if (existing == Existing.REJECT) {
            throw rejected(
                    name,
                    "was not copied: there is another one of this name"
                            + (returns ? "" : ", which --existing replace replaces"));
        } else {
            skipped.add(name);
        }
    }

    private void append(DocumentName name, Copy copy, Description now, Description there) throws IOException {
        if (there.next() > now.next()) {
            throw rejected(
                    name,
                    "has " + (there.next() - now.next())
                            + " values there that were not copied: another client writes to it");
        }
        if (now.first() > copy.same()) {
            requireUnchanged(name, copy, there, "updated");
        }
        // If a reply was lost, the target may have values that have not been compared yet.
        long from = Math.max(copy.same(), now.first());
        if (there.next() > from && (there.first() > from || !isSame(name, now, there, from, there.next()))) {
            throw rejected(name, Importer.NOT_THE_SAME);
        }
        Importer importer = importer(name, now);
        importer.continueCopy(name.toBytes(), now, there);
        transfer(name, now.from(there.next()), importer);
    }
}
