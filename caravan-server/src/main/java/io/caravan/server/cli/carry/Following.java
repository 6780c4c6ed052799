package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.carry.DocumentSync.RefusedException;
import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.carry.Importer.Outcome;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies documents to another server, and keeps copying changes: each round checks all documents and copies those that
 * differ. Ends when it is stopped, or when the single document that it follows has been moved. Not thread-safe, except
 * {@link #progress}.
 */
final class Following {
    private static final int AHEAD_DOCUMENTS = 250;
    /** The bounds of the pause after a round without changes. */
    private static final long MIN_PAUSE_MILLIS = 50;

    private static final long MAX_PAUSE_MILLIS = 5_000;
    /** The time after which a rejected document is tried again. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Pair pair;
    private final DocumentSync mirror;
    private final Existing existing;
    private final byte @Nullable [] name;
    private final byte[] prefix;
    private final Consumer<String> tell;
    /** The rejected documents, and the time of each rejection. */
    private final Map<DocumentName, Long> refused = new HashMap<>();

    /** The run of the source server in which documents were last copied; empty before the first round. */
    private String run = "";
    /** Whether the server has restarted, and no round has checked all documents since. */
    private boolean anew;
    /** The value of {@link Pair#openings} in the last round, for servers that do not report their runs. */
    private int seenOpening;

    private boolean bulkDone;
    private long changedValues;
    private boolean moved;
    private volatile long documents;
    private volatile long behind;
    private volatile long roundMillis;

    /**
     * Creates an instance; copies nothing yet.
     *
     * @param name the name of the single document, or null for all documents with the prefix
     */
    Following(
            Pair pair,
            DocumentSync mirror,
            Existing existing,
            byte @Nullable [] name,
            byte[] prefix,
            Consumer<String> tell) {
        this.pair = pair;
        this.mirror = mirror;
        this.existing = existing;
        this.name = name;
        this.prefix = prefix;
        this.tell = tell;
    }

    /** Follows until it is stopped, or the single document has been moved. */
    void follow() throws IOException {
        if (name != null) {
            requireThere(name);
        }
        pair.run(() -> {
            while (!pair.stopped() && !moved) {
                long started = System.nanoTime();
                round();
                roundMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
                if (changedValues == 0) {
                    pair.sleep(Math.max(MIN_PAUSE_MILLIS, Math.min(MAX_PAUSE_MILLIS, roundMillis)));
                }
            }
        });
    }

    private void requireThere(byte[] one) throws IOException {
        pair.run(() -> {
            if (DocumentSync.describe(pair.source(), DocumentName.of(one)) == null) {
                throw ClientException.missing(new String(one, UTF_8));
            }
        });
    }

    /** Checks all documents once, and copies those that have changed. */
    void round() throws IOException {
        if (run.isEmpty()) {
            run = pair.source().about().run();
        }
        if (name == null && !bulkDone) {
            bulk();
        }
        changedValues = 0;
        String now = pair.source().about().run();
        if (!mirror.names().isEmpty() && (now.isEmpty() ? seenOpening != pair.openings() : !now.equals(run))) {
            anew = true;
            mirror.doubt();
        }
        if (name == null) {
            roundOfAll();
        } else {
            some(List.of(name), new HashSet<>());
        }
        documents = mirror.names().size();
        behind = changedValues;
        if (!pair.stopped()) {
            seenOpening = pair.openings();
            run = now;
            anew = false;
        }
        pair.well();
    }

    /** Copies all documents once, many short ones at a time. Leaves changes during this time to the rounds. */
    private void bulk() throws IOException {
        Progress silent = new Progress(new PrintWriter(Writer.nullWriter()), false, "");
        try (Importer importer =
                        Importer.following(pair.openTarget(), existing, existing.replaced(), new Bulk(), silent);
                Exporter exporter = new Exporter(pair.openSource(), importer, silent)) {
            exporter.all(prefix, mirror.names());
            importer.finish();
        }
        bulkDone = true;
    }

    private final class Bulk implements Importer.Outcomes {
        @Override
        public void settled(byte[] brought, Outcome outcome, String why) {
            // The next round handles a document that returns to a server where it has left a redirect.
            if (outcome == Outcome.REJECTED && !why.contains("has been moved to ")) {
                refuse(DocumentName.of(brought), why);
            }
        }

        @Override
        public void waits(String why) {
            tell.accept(why);
        }

        @Override
        public void same(byte[] brought, Description here, Description there) {
            mirror.same(brought, here, there);
            documents = mirror.names().size();
        }
    }

    private void roundOfAll() throws IOException {
        Set<DocumentName> unseen = new HashSet<>(mirror.names());
        Names names = Names.before();
        do {
            names = pair.source().scan(names, prefix);
            someAtATime(names.names(), unseen);
        } while (!names.last() && !pair.stopped());
        if (!pair.stopped()) {
            someAtATime(unseen.stream().map(DocumentName::toBytes).toList(), new HashSet<>());
        }
    }

    /**
     * Throws {@link ClientException} if the source's store may have been replaced: the server has restarted, and a
     * document has disappeared or lost values. The store may be an older backup, or another store.
     */
    private void requireSameStore(Map<DocumentName, @Nullable Description> changed) {
        for (Map.Entry<DocumentName, @Nullable Description> each : changed.entrySet()) {
            DocumentName document = each.getKey();
            Description now = each.getValue();
            if (!mirror.isContinued(document, now)
                    && (anew || !run.equals(pair.source().about().run()))) {
                throw ClientException.otherState("the server was started again, and its document '" + document + "' "
                        + (now == null ? "is gone" : "has gone back, or is another one")
                        + ": is it another store, or an older backup? nothing was deleted at the other server. If it is"
                        + " right, remove the document there, or run this again with --existing replace");
            }
        }
    }

    private void someAtATime(List<byte[]> names, Set<DocumentName> unseen) throws IOException {
        for (int at = 0; at < names.size() && !pair.stopped(); at += AHEAD_DOCUMENTS) {
            some(names.subList(at, Math.min(names.size(), at + AHEAD_DOCUMENTS)), unseen);
        }
    }

    private void some(List<byte[]> names, Set<DocumentName> unseen) throws IOException {
        DocumentClient source = pair.source();
        names.forEach(source::askDescription);
        Map<DocumentName, @Nullable Description> changed = new HashMap<>();
        for (byte[] each : names) {
            DocumentName document = DocumentName.of(each);
            unseen.remove(document);
            try {
                Description now = source.description();
                if (!mirror.isUpToDate(document, now)) {
                    changed.put(document, now);
                }
            } catch (ClientException notSeen) {
                left(document, notSeen);
            }
        }
        requireSameStore(changed);
        for (Map.Entry<DocumentName, @Nullable Description> each : changed.entrySet()) {
            if (!pair.stopped()) {
                bring(each.getKey(), each.getValue());
            }
        }
    }

    /**
     * Stops following a document that was moved to a third server. If the document is merely invisible, the next round
     * checks it again.
     */
    private void left(DocumentName document, ClientException why) {
        if (!why.isOtherState()) {
            throw why;
        }
        if (why.isMoved()) {
            mirror.forget(document);
            tell.accept(why.getMessage() + "; it is not followed any more");
            moved = name != null;
        }
    }

    private void bring(DocumentName document, @Nullable Description now) throws IOException {
        Long refusedNanos = refused.get(document);
        if (refusedNanos != null && System.nanoTime() - refusedNanos < REFUSED_NANOS) {
            return;
        }
        try {
            changedValues += now == null ? 1 : Math.max(1, mirror.behind(document, now));
            mirror.bring(pair.source(), pair.target(), document, now);
            refused.remove(document);
        } catch (RefusedException refusal) {
            refuse(document, String.valueOf(refusal.getMessage()));
        } catch (ClientException changing) {
            // The next round, which follows immediately, tries again.
            if (!changing.isOtherState()) {
                throw changing;
            }
        }
    }

    /** Records that the target server rejects a document; prints the reason the first time. */
    void refuse(DocumentName document, String why) {
        if (refused.put(document, System.nanoTime()) == null) {
            tell.accept(why);
        }
    }

    /** Records that a rejected document was accepted. */
    void accepted(DocumentName document) {
        refused.remove(document);
    }

    /** Returns the number of documents that the target server rejects. */
    int refused() {
        return refused.size();
    }

    String progress() {
        return documents + " documents, " + Figures.size(mirror.bytes()) + " brought since; the last look found "
                + Figures.count(behind, "value") + " to bring, in " + roundMillis + " ms";
    }

    String line() {
        return "followed " + Figures.count(documents, "document") + ": brought "
                + Figures.count(mirror.values(), "value") + ", " + Figures.size(mirror.bytes())
                + "; " + (behind == 0 ? "nothing was left to bring" : "some " + behind + " values were left to bring")
                + " at the last look" + Importer.some(refused.size(), "rejected");
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("documents", documents);
        json.writeNumberField("values", mirror.values());
        json.writeNumberField("bytes", mirror.bytes());
        json.writeNumberField("behind", behind);
        json.writeNumberField("rejected", refused.size());
    }
}
