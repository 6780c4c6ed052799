package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Reply;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.DocumentSync.RejectedException;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.cli.migration.Importer.Upload;
import java.io.IOException;
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
final class DocumentFollower {
    /** The bounds of the pause after a round without changes. */
    private static final long MIN_PAUSE_MILLIS = 50;

    private static final long MAX_PAUSE_MILLIS = 5_000;
    /** The time after which a rejected document is tried again. */
    private static final long REJECTED_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ReconnectingClients servers;
    private final DocumentSync sync;
    private final RateLimitRetries retries;
    private final Existing existing;
    private final byte @Nullable [] name;
    private final byte[] prefix;
    private final Consumer<String> messages;
    /** The rejected documents, and the time of each rejection. */
    private final Map<DocumentName, Long> rejected = new HashMap<>();

    /** The id of the source server's run in which documents were last copied; empty before the first round. */
    private String run = "";
    /** Whether the source server has restarted since the last round that checked all documents. */
    private boolean restarted;

    private boolean firstCopyDone;
    private long changedValues;
    private boolean moved;
    private volatile long documents;
    private volatile long missing;
    private volatile long roundMillis;

    /**
     * Creates an instance; copies nothing yet.
     *
     * @param returns whether a document may replace a redirect at the target once the document is fenced
     * @param name the name of the single document, or null for all documents with the prefix
     */
    DocumentFollower(
            ReconnectingClients servers,
            Existing existing,
            boolean returns,
            byte @Nullable [] name,
            byte[] prefix,
            Consumer<String> messages) {
        this.servers = servers;
        this.retries = new RateLimitRetries(messages);
        this.sync = new DocumentSync(servers, existing, returns, retries);
        this.existing = existing;
        this.name = name;
        this.prefix = prefix;
        this.messages = messages;
    }

    DocumentSync sync() {
        return sync;
    }

    /** Copies changes until this instance is stopped, or the single document has been moved. */
    void follow() throws IOException {
        if (name != null) {
            requireExists(name);
        }
        servers.run(() -> {
            while (!servers.stopped() && !moved) {
                long started = System.nanoTime();
                round();
                roundMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
                if (changedValues == 0) {
                    servers.sleep(Math.max(MIN_PAUSE_MILLIS, Math.min(MAX_PAUSE_MILLIS, roundMillis)));
                }
            }
        });
    }

    private void requireExists(byte[] one) throws IOException {
        servers.run(() -> {
            if (servers.source().descriptionOf(one) == null) {
                throw ClientException.missing(new String(one, UTF_8));
            }
        });
    }

    /** Checks all documents once, and copies those that have changed. */
    void round() throws IOException {
        if (run.isEmpty()) {
            run = servers.source().run();
        }
        if (name == null && !firstCopyDone) {
            copyAll();
        }
        changedValues = 0;
        String now = servers.source().run();
        if (!sync.names().isEmpty() && !now.equals(run)) {
            restarted = true;
            sync.compareAgain();
        }
        if (name == null) {
            checkAll();
        } else {
            check(List.of(name), new HashSet<>());
        }
        documents = sync.names().size();
        missing = changedValues;
        if (!servers.stopped()) {
            run = now;
            restarted = false;
        }
        servers.connected("");
    }

    /**
     * Copies all documents once, many short ones at a time. The following rounds copy the changes that clients make
     * during this copy.
     */
    private void copyAll() throws IOException {
        Importer importer = new Importer(servers.target(), existing, retries, this::settled);
        new Exporter(servers.source(), importer, Progress.silent()).all(prefix, sync.names());
        importer.finish();
        firstCopyDone = true;
    }

    /**
     * Records whether a document was copied. The next round handles a document that exists at the target, perhaps as a
     * shorter copy, and one that returns to a server where it has left a redirect.
     */
    private void settled(Upload document, Outcome outcome, String why) {
        DocumentName settled = DocumentName.of(document.name());
        ClientException problem = document.problem();
        boolean isThere = problem != null && (document.exists() || problem.kind() == ClientException.Kind.MOVED);
        if (outcome == Outcome.SENT || outcome == Outcome.ALREADY) {
            sync.addCopy(settled, document.description(), document.there());
            documents = sync.names().size();
        } else if (outcome == Outcome.REJECTED && !isThere) {
            reject(settled, why);
        }
    }

    private void checkAll() throws IOException {
        Set<DocumentName> unseen = new HashSet<>(sync.names());
        servers.source().scanPrefix(prefix, names -> check(names, unseen));
        List<byte[]> others = unseen.stream().map(DocumentName::toBytes).toList();
        DocumentClient.inBatches(others, names -> check(names, new HashSet<>()));
    }

    private void check(List<byte[]> names, Set<DocumentName> unseen) throws IOException {
        if (servers.stopped()) {
            return;
        }
        DocumentClient source = servers.source();
        List<Reply<Description>> replies =
                names.stream().map(source::requestDescription).toList();
        Map<DocumentName, @Nullable Description> changed = new HashMap<>();
        for (int i = 0; i < names.size(); i++) {
            DocumentName document = DocumentName.of(names.get(i));
            unseen.remove(document);
            try {
                Description now = replies.get(i).receive();
                if (!sync.isUpToDate(document, now)) {
                    changed.put(document, now);
                }
            } catch (ClientException notVisible) {
                handleInvisible(document, notVisible.ofDocument());
            }
        }
        requireSameStore(changed);
        for (Map.Entry<DocumentName, @Nullable Description> each : changed.entrySet()) {
            if (!servers.stopped()) {
                synchronize(each.getKey(), each.getValue());
            }
        }
    }

    /**
     * Stops following a document that was moved to a third server. If the document is merely invisible, the next round
     * checks it again.
     */
    private void handleInvisible(DocumentName document, ClientException why) {
        if (why.kind() == ClientException.Kind.MOVED) {
            sync.forget(document);
            messages.accept(why.getMessage() + "; the command stops following it");
            moved = name != null;
        }
    }

    /**
     * Throws {@link ClientException} if the source's store may have been replaced, because the server has restarted
     * and a document has disappeared or lost values. The store may be an older backup, or another store.
     */
    private void requireSameStore(Map<DocumentName, @Nullable Description> changed) {
        for (Map.Entry<DocumentName, @Nullable Description> each : changed.entrySet()) {
            DocumentName document = each.getKey();
            Description now = each.getValue();
            if (!sync.isContinued(document, now)
                    && (restarted || !run.equals(servers.source().run()))) {
                throw ClientException.otherState("the server has restarted, and its document '" + document + "' "
                        + (now == null ? "is missing" : "has fewer values, or is another one")
                        + ": is it another store, or an older backup? Nothing was deleted at the other server. If the"
                        + " server's store is right, remove the document there, or run this again with --existing"
                        + " replace");
            }
        }
    }

    private void synchronize(DocumentName document, @Nullable Description now) throws IOException {
        Long rejectedNanos = rejected.get(document);
        if (rejectedNanos != null && System.nanoTime() - rejectedNanos < REJECTED_NANOS) {
            return;
        }
        long changed = now == null ? 1 : Math.max(1, sync.missing(document, now));
        try {
            changedValues += changed;
            sync.synchronize(document, now, false);
            rejected.remove(document);
            if (!sync.isUpToDate(document, now)) {
                // The document was skipped because it is about to expire, so the next round need not follow at once.
                changedValues -= changed;
            }
        } catch (RejectedException rejection) {
            reject(document, String.valueOf(rejection.getMessage()));
        } catch (ClientException changing) {
            // The next round, which follows immediately, tries again.
            changing.ofDocument();
        }
    }

    /** Records that the target server rejects a document; prints the reason the first time. */
    void reject(DocumentName document, String why) {
        if (rejected.put(document, System.nanoTime()) == null) {
            messages.accept(why);
        }
    }

    void accept(DocumentName document) {
        rejected.remove(document);
    }

    int rejected() {
        return rejected.size();
    }

    String progress() {
        return Figures.count(documents, "document") + ", " + Figures.size(sync.bytes())
                + " copied since; the last round found " + Figures.count(missing, "missing value") + ", in "
                + roundMillis + " ms";
    }

    void print(Output output) throws IOException {
        String line = "followed " + Figures.count(documents, "document") + ": copied "
                + Figures.count(sync.values(), "value") + ", " + Figures.size(sync.bytes()) + "; the last round found "
                + (missing == 0 ? "no missing values" : Figures.count(missing, "missing value"))
                + TransferTotals.some(rejected.size(), "rejected");
        Map<String, ?> fields = Output.fields(
                "documents", documents,
                "values", sync.values(),
                "bytes", sync.bytes(),
                "behind", missing,
                "rejected", rejected.size());
        output.print(line, fields);
    }
}
