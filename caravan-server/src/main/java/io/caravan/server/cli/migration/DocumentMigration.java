package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.migration.DocumentSync.RejectedException;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.MoveStep.Kind;
import io.caravan.server.document.RedirectTarget;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Moves documents to another server while clients write to them. Each document is copied until few values are missing,
 * then fenced, copied to its end, compared, and replaced by a redirect. Another run resumes an interrupted move. Not
 * thread-safe, except {@link #progress}.
 */
final class DocumentMigration {
    /**
     * The maximum number of missing values when a document is fenced; it is small, so that the document is fenced only
     * briefly.
     */
    private static final long NEAR_VALUES = 1_000;
    /** The number of passes after which a document is fenced even if it grows faster than it is copied. */
    private static final int CATCH_UPS = 20;

    private static final String STAYS_FENCED = "; it stays fenced: solve the problem, and run this again";

    private static final int DRAINS = 3;
    private static final int PASSES = 20;
    /** The exclusive upper bound of the ids of fence holders. */
    private static final long HOLDERS = 1_000_000_000_000_000_000L;

    private final ReconnectingClients servers;
    private final DocumentSync sync;
    private final DocumentFollower follower;
    private final RedirectTarget to;
    private final OptionalLong holder =
            OptionalLong.of(ThreadLocalRandom.current().nextLong(HOLDERS));
    private volatile long moved;
    private long already;
    private boolean targetChecked;

    /** Creates an instance that moves nothing yet; clients are redirected to the address {@code to}. */
    DocumentMigration(ReconnectingClients servers, DocumentFollower follower, RedirectTarget to) {
        this.servers = servers;
        this.sync = follower.sync();
        this.follower = follower;
        this.to = to;
    }

    void one(byte[] name) throws IOException {
        servers.run(() -> {
            if (!move(DocumentName.of(name))) {
                throw ClientException.missing(new String(name, UTF_8));
            }
            servers.connected("");
        });
    }

    /** Moves all documents with this prefix, in passes, until a pass moves none. */
    void all(byte[] prefix) throws IOException {
        servers.run(follower::round);
        long before = -1;
        for (int i = 0; i < PASSES && before != moved; i++) {
            before = moved;
            servers.run(() -> pass(prefix));
        }
    }

    private void pass(byte[] prefix) throws IOException {
        servers.source().scanPrefix(prefix, names -> {
            for (byte[] name : names) {
                move(DocumentName.of(name));
                servers.connected("");
            }
        });
    }

    /** Moves a document; returns false if it does not exist. */
    private boolean move(DocumentName name) throws IOException {
        boolean returns = sync.waitsForFence(name);
        boolean found;
        try {
            Description here = servers.source().descriptionOf(name.toBytes());
            if (here == null) {
                return false;
            }
            // An earlier run may have ended before its last step.
            found = returns || here.moving();
            String rejection = returns ? null : caughtUp(name);
            if (rejection != null && !sync.hasAll(name, found)) {
                follower.reject(name, here.moving() ? rejection + STAYS_FENCED : rejection);
                return true;
            }
            if (!targetChecked && !returns) {
                // A server without support for moves fails here, before anything is fenced.
                abandon(servers.target(), name);
                targetChecked = true;
            }
            servers.source().move(name.toBytes(), new MoveStep(Kind.FENCE, holder, to));
        } catch (ClientException rejection) {
            handleRejection(name, rejection.ofDocument());
            return true;
        }
        if (!returns && abandon(servers.target(), name)) {
            // The target has just removed the fence that this run has set at the source.
            follower.reject(
                    name,
                    "document '" + name + "' is there already: both are the same server, or nodes of the same cluster");
            return true;
        }
        drainAndRedirect(name, found);
        return true;
    }

    private void drainAndRedirect(DocumentName name, boolean found) throws IOException {
        String problem;
        try {
            problem = drained(name, found);
        } catch (ClientException failure) {
            abandon(name, found);
            throw failure;
        }
        if (problem == null) {
            redirect(name);
        } else {
            boolean unfenced = abandon(name, found);
            follower.reject(name, unfenced ? problem : problem + STAYS_FENCED);
        }
    }

    /**
     * Removes the fence, unless clients may have found the document at the target. Returns whether the fence was
     * removed.
     *
     * @param found whether the document returns to the target, or an earlier run has fenced it and may have returned it
     */
    private boolean abandon(DocumentName name, boolean found) {
        if (found && !sync.waitsForFence(name)) {
            return false;
        }
        abandon(servers.source(), name);
        return true;
    }

    private boolean abandon(DocumentClient server, DocumentName name) {
        return server.move(name.toBytes(), new MoveStep(Kind.ABANDON, holder, null));
    }

    private void redirect(DocumentName name) {
        try {
            servers.source().move(name.toBytes(), new MoveStep(Kind.REDIRECT, holder, null));
            sync.forget(name);
            follower.accept(name);
            moved++;
        } catch (ClientException abandoned) {
            handleRejection(name, abandoned.ofDocument());
        }
    }

    private void handleRejection(DocumentName name, ClientException rejection) {
        String why = String.valueOf(rejection.getMessage());
        if (rejection.kind() == ClientException.Kind.MOVED && why.endsWith("has been moved to " + to)) {
            // This run may have moved the document, and lost the reply.
            already++;
            follower.accept(name);
        } else {
            follower.reject(name, why);
        }
    }

    /** Copies a document until few values are missing; returns the reason if the target rejects it, otherwise null. */
    private @Nullable String caughtUp(DocumentName name) throws IOException {
        try {
            for (int i = 0; i < CATCH_UPS; i++) {
                Description now = servers.source().descriptionOf(name.toBytes());
                if (now == null || sync.isUpToDate(name, now)) {
                    return null;
                }
                if (Importer.expiresSoon(now)) {
                    return "document '" + name + "' is about to expire, and is not moved";
                }
                boolean near = sync.names().contains(name) && sync.missing(name, now) <= NEAR_VALUES;
                try {
                    sync.synchronize(name, now, false);
                } catch (ClientException changing) {
                    changing.ofDocument();
                }
                if (near) {
                    return null;
                }
            }
            return null;
        } catch (RejectedException rejection) {
            return String.valueOf(rejection.getMessage());
        }
    }

    /** Completes the copy of a fenced document; returns the reason if that is impossible, otherwise null. */
    private @Nullable String drained(DocumentName name, boolean found) throws IOException {
        try {
            for (int i = 0; i < DRAINS; i++) {
                Description now = servers.source().descriptionOf(name.toBytes());
                if (now == null) {
                    return "document '" + name + "' is missing, though it was fenced: was the server's store replaced?";
                }
                sync.synchronize(name, now, true);
                if (sync.hasAll(name, found)) {
                    return null;
                }
                // The target has lost the copy, or has another document of this name. The next attempt compares all
                // values.
                sync.forget(name);
            }
            return "document '" + name + "' is not the same at both servers: it is not moved";
        } catch (RejectedException rejection) {
            // An earlier run may have ended before its last step, and clients may have written to the document at the
            // target since then.
            return sync.hasAll(name, found) ? null : rejection.getMessage();
        } catch (ClientException rejection) {
            return rejection.ofDocument().getMessage();
        }
    }

    String progress() {
        return "moved " + Figures.count(moved, "document") + "; " + follower.progress();
    }

    void print(Output output) throws IOException {
        String line = "moved " + Figures.count(moved, "document") + " to " + to
                + TransferTotals.some(already, "had been moved there already")
                + TransferTotals.some(follower.rejected(), "rejected");
        output.print(line, Output.fields("moved", moved, "already", already, "rejected", follower.rejected()));
    }
}
