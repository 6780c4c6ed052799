package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.carry.DocumentSync.RefusedException;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.common.Figures;
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
    /** The maximum number of missing values when a document is fenced, so that they are copied quickly. */
    private static final long NEAR_VALUES = 1_000;
    /** The number of passes after which a document is fenced even if it grows faster than it is copied. */
    private static final int CATCH_UPS = 20;

    private static final int DRAINS = 3;
    private static final int PASSES = 20;
    /** The exclusive upper bound of holder ids. HTTP requests allow 18 digits. */
    private static final long HOLDERS = 1_000_000_000_000_000_000L;

    private final Pair pair;
    private final DocumentSync mirror;
    private final Following following;
    private final RedirectTarget to;
    private final long holder = ThreadLocalRandom.current().nextLong(HOLDERS);
    private volatile long moved;
    private long already;
    private boolean able;

    /**
     * Creates an instance; moves nothing yet.
     *
     * @param following copies the documents
     * @param to the address to which clients are redirected
     */
    DocumentMigration(Pair pair, DocumentSync mirror, Following following, RedirectTarget to) {
        this.pair = pair;
        this.mirror = mirror;
        this.following = following;
        this.to = to;
    }

    void one(byte[] name) throws IOException {
        pair.run(() -> {
            if (!move(DocumentName.of(name))) {
                throw ClientException.missing(new String(name, UTF_8));
            }
            pair.well();
        });
    }

    /** Moves all documents with this prefix, until a pass moves none. */
    void all(byte[] prefix) throws IOException {
        pair.run(following::round);
        long before = -1;
        for (int i = 0; i < PASSES && before != moved; i++) {
            before = moved;
            pair.run(() -> pass(prefix));
        }
    }

    private void pass(byte[] prefix) throws IOException {
        Names names = Names.before();
        do {
            names = pair.source().scan(names, prefix);
            for (byte[] name : names.names()) {
                move(DocumentName.of(name));
                pair.well();
            }
        } while (!names.last());
    }

    /** Moves a document; returns false if it does not exist. */
    private boolean move(DocumentName name) throws IOException {
        boolean back = mirror.waitsForFence(pair.target(), name);
        boolean found;
        try {
            Description here = DocumentSync.describe(pair.source(), name);
            if (here == null) {
                return false;
            }
            // An earlier run may have ended before its last step.
            found = back || here.moving();
            String refusal = back ? null : caughtUp(name);
            if (refusal != null && !mirror.hasAll(pair.source(), pair.target(), name, found)) {
                following.refuse(name, refusal);
                return true;
            }
            if (!able && !back) {
                // A server without support for moves fails here, before anything is fenced.
                pair.target().abandon(name.toBytes(), OptionalLong.of(holder));
                able = true;
            }
            pair.source().fence(name.toBytes(), holder, to);
        } catch (ClientException refusal) {
            refused(name, refusal);
            return true;
        }
        if (!back && pair.target().abandon(name.toBytes(), OptionalLong.of(holder))) {
            // The target has just removed the fence that this run has set at the source.
            following.refuse(
                    name,
                    "document '" + name + "' is there already: it is the same server, or one of the same cluster");
            return true;
        }
        String problem;
        try {
            problem = drained(name, found);
        } catch (ClientException broken) {
            abandon(name, back);
            throw broken;
        }
        if (problem == null) {
            redirect(name);
        } else {
            following.refuse(
                    name, problem + (abandon(name, back) ? "" : "; it stays fenced: look, and run this again"));
        }
        return true;
    }

    /**
     * Removes the fence, unless clients may have found the document at the target to which it returns; returns whether
     * the fence was removed.
     */
    private boolean abandon(DocumentName name, boolean back) {
        if (back && !mirror.waitsForFence(pair.target(), name)) {
            return false;
        }
        pair.source().abandon(name.toBytes(), OptionalLong.of(holder));
        return true;
    }

    private void redirect(DocumentName name) {
        try {
            pair.source().redirect(name.toBytes(), holder);
            mirror.forget(name);
            following.accepted(name);
            moved++;
        } catch (ClientException abandoned) {
            refused(name, abandoned);
        }
    }

    private void refused(DocumentName name, ClientException refusal) {
        if (!refusal.isOtherState()) {
            throw refusal;
        }
        String why = String.valueOf(refusal.getMessage());
        if (refusal.isMoved() && why.endsWith("has been moved to " + to)) {
            // This run may have moved the document, and lost the reply.
            already++;
            following.accepted(name);
        } else {
            following.refuse(name, why);
        }
    }

    /** Copies a document until few values are missing; returns the reason if the target rejects it, otherwise null. */
    private @Nullable String caughtUp(DocumentName name) throws IOException {
        try {
            catchUp(name);
            return null;
        } catch (RefusedException refusal) {
            return String.valueOf(refusal.getMessage());
        }
    }

    private void catchUp(DocumentName name) throws IOException {
        for (int i = 0; i < CATCH_UPS; i++) {
            Description now = DocumentSync.describe(pair.source(), name);
            if (now == null || mirror.isUpToDate(name, now)) {
                return;
            }
            if (PendingImport.expiresSoon(now)) {
                throw new RefusedException("document '" + name + "' expires in a moment, and is not moved");
            }
            boolean near = mirror.names().contains(name) && mirror.behind(name, now) <= NEAR_VALUES;
            bringUnlessChanging(name, now);
            if (near) {
                return;
            }
        }
    }

    private void bringUnlessChanging(DocumentName name, Description now) throws IOException {
        try {
            mirror.bring(pair.source(), pair.target(), name, now);
        } catch (ClientException changing) {
            if (!changing.isOtherState()) {
                throw changing;
            }
        }
    }

    /** Copies the rest of a fenced document; returns the reason if that is impossible, otherwise null. */
    private @Nullable String drained(DocumentName name, boolean found) throws IOException {
        try {
            for (int i = 0; i < DRAINS; i++) {
                Description now = DocumentSync.describe(pair.source(), name);
                if (now == null) {
                    return "document '" + name + "' is gone, though it was fenced: was the server's store replaced?";
                }
                mirror.bringFenced(pair.source(), pair.target(), name, now);
                if (mirror.hasAll(pair.source(), pair.target(), name, found)) {
                    return null;
                }
                // The target has lost the copy, or has another document of this name. The next attempt compares all
                // values.
                mirror.forget(name);
            }
            return "document '" + name + "' is not the same at both servers: it is not moved";
        } catch (RefusedException refusal) {
            // An earlier run may have ended before its last step, and clients have written to the document there since.
            return mirror.hasAll(pair.source(), pair.target(), name, found) ? null : refusal.getMessage();
        } catch (ClientException refusal) {
            if (!refusal.isOtherState()) {
                throw refusal;
            }
            return refusal.getMessage();
        }
    }

    String progress() {
        return "moved " + Figures.count(moved, "document") + "; " + following.progress();
    }

    String line() {
        return "moved " + Figures.count(moved, "document") + " to " + to
                + Importer.some(already, "had been moved there already")
                + Importer.some(following.refused(), "rejected");
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("moved", moved);
        json.writeNumberField("already", already);
        json.writeNumberField("rejected", following.refused());
    }
}
