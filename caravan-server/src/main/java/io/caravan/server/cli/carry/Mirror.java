package io.caravan.server.cli.carry;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.client.Carrier;
import io.caravan.server.cli.client.Carrier.Description;
import io.caravan.server.cli.client.ClientException;
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
 * Keeps documents of a server the same at another one: brings what was appended, trimmed, changed, deleted and created
 * since, each time only that, and reads it back to compare it. What it knows of the documents outlives a server's end, so
 * that it goes on with the next connections; that a server has lost what it had told is found where all of a document is
 * compared ({@link #hasAll}). For one thread, except the figures.
 */
final class Mirror {
    private static final int PART_VALUES = 4096;
    /** Counted for each value beside its bytes. */
    private static final int OVERHEAD_BYTES = 64;

    private final Existing existing;
    /** Whether a document may take the place of a redirect there, once it is fenced. */
    private final boolean comesBack;

    private final Patience patience;
    private final Map<DocumentName, Twin> twins = new HashMap<>();
    /** Those that give way to others of their names. */
    private final Set<DocumentName> skipped = new HashSet<>();

    private volatile long values;
    private volatile long bytes;

    /** The other server refuses something. */
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
     * A mirror without documents.
     *
     * @param existing what becomes of a document whose name is taken
     * @param comesBack whether a document takes the place of a redirect there
     */
    Mirror(Existing existing, boolean comesBack, Patience patience) {
        this.existing = existing;
        this.comesBack = comesBack;
        this.patience = patience;
    }

    /** Takes over a document that was found to be the same at both. */
    void same(byte[] name, Description source, Description target) {
        twins.put(DocumentName.of(name), new Twin(source, target.id(), source.next()));
    }

    /** The documents that both servers have. */
    Set<DocumentName> names() {
        return twins.keySet();
    }

    /** Has every document compared as a whole when it is looked at next: its server may have another store. */
    void doubt() {
        twins.replaceAll((name, twin) ->
                new Twin(twin.source(), twin.targetId(), twin.source().first()));
    }

    /** Whether a document, as it is now, is the one that was brought before, and has lost nothing. */
    boolean isContinued(DocumentName name, @Nullable Description now) {
        Twin twin = twins.get(name);
        return twin == null
                || now != null
                        && now.id() == twin.source().id()
                        && now.next() >= twin.source().next();
    }

    /** Knows nothing more of a document that is elsewhere now. */
    void forget(DocumentName name) {
        twins.remove(name);
    }

    /** Number of values brought so far. */
    long values() {
        return values;
    }

    /** Their lengths together. */
    long bytes() {
        return bytes;
    }

    /** How many values a document, as it is now, has that were not brought yet. */
    long behind(DocumentName name, Description now) {
        Twin twin = twins.get(name);
        return twin == null || twin.source().id() != now.id() ? now.count() : Math.max(0, now.next() - twin.same());
    }

    /** Whether a document, as it is now, was brought. */
    boolean isUpToDate(DocumentName name, @Nullable Description now) {
        Twin twin = twins.get(name);
        if (skipped.contains(name)) {
            return true;
        }
        return now == null ? twin == null : twin != null && twin.isUpToDate(now);
    }

    /**
     * Brings a document up to date; returns once that is durable.
     *
     * @param now what it is; null when it is there no more
     * @throws ClientException when it was trimmed or deleted meanwhile: another try may do
     * @throws RefusedException when the other server does not take it, or has another one
     */
    void bring(Carrier source, Carrier target, DocumentName name, @Nullable Description now) throws IOException {
        if (isUpToDate(name, now)) {
            return;
        }
        new Bringing(source, target, name, false).bring(now);
    }

    /** Brings a document up to date that is fenced, as {@link #bring}; also to where it has left a redirect. */
    void bringFenced(Carrier source, Carrier target, DocumentName name, @Nullable Description now) throws IOException {
        if (!isUpToDate(name, now)) {
            new Bringing(source, target, name, true).bring(now);
        }
    }

    /**
     * Whether the other server leads clients on to where the document is now. It comes back behind its fence only: a copy
     * there would take writes while the document takes writes, too.
     */
    boolean waitsForFence(Carrier target, DocumentName name) {
        try {
            describe(target, name);
            return false;
        } catch (ClientException notSeen) {
            requireOther(notSeen);
            return comesBack && notSeen.isMoved();
        }
    }

    /**
     * Whether the other server has all of a document that is fenced: the same, or that and more, as it may be where clients
     * have found it already. The values are read and compared.
     *
     * @param found whether clients may have found it there, and trimmed it
     * @throws ClientException when it cannot be seen at this server
     */
    boolean hasAll(Carrier source, Carrier target, DocumentName name, boolean found) throws IOException {
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
        if (there.next() == here.next() && !Twin.isLike(here, there.from(Math.min(there.first(), here.first())))) {
            return false;
        }
        // What cannot be compared there may never have been this document's.
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

    /** Whether this run has brought all of a document there. */
    private boolean isTwin(DocumentName name, Description here, Description there) {
        Twin twin = twins.get(name);
        return twin != null
                && twin.targetId() == there.id()
                && twin.source().id() == here.id()
                && twin.same() >= here.next();
    }

    private static DocumentSum sum(Carrier server, DocumentName name, Description range) throws IOException {
        byte[] raw = name.toBytes();
        DocumentSum sum = new DocumentSum(raw, range(0, range.first(), range.next(), 0));
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

    static @Nullable Description describe(Carrier server, DocumentName name) {
        server.askDescription(name.toBytes());
        return server.description();
    }

    private static Description range(long id, long from, long to, long bytes) {
        return new Description(id, from, to, bytes, Map.of());
    }

    /** One document on its way. */
    private final class Bringing {
        private final Carrier source;
        private final Carrier target;
        private final DocumentName name;
        private final byte[] raw;
        private final boolean fenced;

        Bringing(Carrier source, Carrier target, DocumentName name, boolean fenced) {
            this.fenced = fenced;
            this.source = source;
            this.target = target;
            this.name = name;
            this.raw = name.toBytes();
        }

        void bring(@Nullable Description now) throws IOException {
            Twin twin = twins.get(name);
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
                // It was moved, or only begun.
                requireOther(notSeen);
                if (notSeen.isMoved() && comesBack && !fenced) {
                    return;
                }
                place = !notSeen.isMoved() ? Replaced.NOTHING : comesBack ? Replaced.REDIRECT : existing.replaced();
            }
            if (there == null) {
                if (!Arriving.expiresSoon(now)) {
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

        private void delete(Twin twin) {
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

        /** What somebody else has written there is not dropped, unless the user says so. */
        private void requireBrought(Twin twin, Description there, String what) {
            boolean brought = there.next() <= twin.same() || there.hasBrought(twin.source(), there.next());
            if (!brought && existing != Existing.REPLACE) {
                throw new RefusedException("document '" + name + "' was not " + what
                        + " there: somebody else has written to it, and only --existing replace drops that");
            }
        }

        /** A backup was put in the place of the store, or it is less durable than what it has told. */
        private void wentBack(Description now, Twin twin) throws IOException {
            if (existing != Existing.REPLACE) {
                throw new RefusedException("document '" + name + "' has gone back to sequence " + now.next() + " from "
                        + twin.same() + ", which only --existing replace does at the other server too");
            }
            create(now, Replaced.ANYTHING);
        }

        private void create(Description now, Replaced replaced) throws IOException {
            twins.remove(name);
            Parts parts = new Parts(target, raw, now, replaced, patience);
            DocumentSum sum = new DocumentSum(raw, range(0, now.first(), now.next(), 0));
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
            twins.put(name, new Twin(now, there.id(), now.next()));
            count(sum);
        }

        private void count(DocumentSum sum) {
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

        /** Reads values back, which must be those that were summed. */
        private void compare(DocumentSum sent, Description there) throws IOException {
            try {
                if (!sum(target, there).crc32c().equals(sent.crc32c())) {
                    throw notTheSame();
                }
            } catch (ClientException changed) {
                requireOther(changed);
                throw notTheSame();
            }
        }

        private DocumentSum sum(Carrier server, Description range) throws IOException {
            return Mirror.sum(server, name, range);
        }

        /** Goes on with a document that is there already, if it is a beginning of this one. */
        private void adopt(Description now, Description there) throws IOException {
            // What is dropped there, because the source has it no more, must be known to have come from it.
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
                goOn(new Twin(now, there.id(), there.next()), now, there);
            } else if (existing == Existing.REPLACE) {
                create(now, Replaced.ANYTHING);
            } else if (existing == Existing.REFUSE) {
                throw new RefusedException("document '" + name
                        + "' was not brought: there is another one of this name, which --existing replace replaces");
            } else {
                skipped.add(name);
            }
        }

        private void goOn(Twin twin, Description now, Description there) throws IOException {
            if (there.next() > now.next()) {
                throw new RefusedException("document '" + name + "' has " + (there.next() - now.next())
                        + " values there that it was never sent: somebody else writes to it");
            }
            if (now.first() > twin.same()) {
                requireBrought(twin, there, "brought up to date");
            }
            // What was sent, and whose answer was lost, is there without having been compared.
            long from = Math.max(twin.same(), now.first());
            if (there.next() > from) {
                compare(sum(source, now.from(from).until(there.next())), there.from(from));
            }
            DocumentSum sum = send(now, there);
            compare(sum, range(there.id(), there.next(), now.next(), sum.bytes()));
            twins.put(name, new Twin(now, there.id(), now.next()));
            count(sum);
        }

        private DocumentSum send(Description now, Description there) throws IOException {
            DocumentSum sum = new DocumentSum(raw, range(0, there.next(), now.next(), 0));
            Description after = new Description(
                    there.id(), now.first(), now.next(), -1, now.attributes(), false, now.identity(), null);
            // What it is beside its values becomes so with the last of them.
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
