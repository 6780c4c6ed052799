package io.caravan.server.document.space;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The spaces of a store. Of all prefixes that a document's name begins with, the longest one's settings count, and no
 * others: nothing is inherited.
 *
 * <p>Any thread may look a space up, at the cost of a few comparisons. Changes are for threads that may wait: making and
 * removing a space counts all documents anew, since some have moved from one space to another.
 */
public final class Spaces {
    /** Greatest number of spaces. */
    public static final int MAX_SPACES = 1_000;

    private final ListStore store;
    private final Catalog catalog;
    private final LongSupplier nanoTime;
    private final Promise server;
    /** What has happened in each space; kept while there is one of the prefix. */
    private final Map<Prefix, Activity> activities = new ConcurrentHashMap<>();

    /** Held during a change; taken before the locks of the catalog and the store. */
    private final ReentrantLock changing = new ReentrantLock();
    /** Guarded by {@link #changing}. */
    private final SpaceJournal journal;

    /** Why settings with which the server does nothing cannot be set. */
    private final Map<SpaceSetting, String> refused = new ConcurrentHashMap<>();

    private volatile SpaceTable table = SpaceTable.EMPTY;

    /**
     * Reads the spaces, and counts what is in them, which takes as long as there are documents if there are spaces.
     *
     * @param nanoTime as {@link System#nanoTime()}, for rates
     * @param server what is promised for documents in no space, and at most in one
     */
    public Spaces(ListStore store, Catalog catalog, LongSupplier nanoTime, Promise server) {
        this.store = store;
        this.catalog = catalog;
        this.nanoTime = nanoTime;
        this.server = server;
        this.journal = new SpaceJournal(store);
        if (!journal.settings().isEmpty()) {
            publish();
        }
    }

    /** Whether there are none, so that nothing has to be looked up or counted. */
    public boolean isEmpty() {
        return table.isEmpty();
    }

    /** The space that a document of this name is in, or null. Takes no memory, and no lock. */
    public @Nullable Space find(DocumentName name) {
        return table.find(name);
    }

    /** What the server promises for documents that are in no space, and at most for those in one. */
    public Promise server() {
        return server;
    }

    /** What has happened to a change of a document of this name before it is answered. Takes no memory, and no lock. */
    public Promise promise(DocumentName name) {
        Space space = find(name);
        return space == null ? server : space.promise();
    }

    /** Has settings refused from now on, because the server does nothing with them; what is set already stays. */
    public void refuse(String why, SpaceSetting... settings) {
        for (SpaceSetting setting : settings) {
            refused.put(setting, why);
        }
    }

    /** All of them, in the order of their prefixes. */
    public List<Space> all() {
        return table.all();
    }

    /** The space of exactly this prefix, or null. */
    public @Nullable Space get(Prefix prefix) {
        return table.all().stream()
                .filter(space -> space.prefix().equals(prefix))
                .findAny()
                .orElse(null);
    }

    /**
     * Makes a space, or changes its settings. They hold for every change of a document that begins when this returns, or
     * earlier; quotas of all spaces hold when this returns. Durable on return, and so is, as the server promises, whatever
     * was written before, so that a document's earlier changes are as durable as it is to be now.
     *
     * @param change gets the settings so far, and may be called once only
     * @return the space
     * @throws IllegalArgumentException when there would be more than {@link #MAX_SPACES}, or {@code change} throws it;
     *     nothing has changed then
     */
    public Space set(Prefix prefix, UnaryOperator<SpaceSettings> change) {
        changing.lock();
        try {
            Map<Prefix, SpaceSettings> present = journal.settings();
            SpaceSettings before = present.getOrDefault(prefix, SpaceSettings.NONE);
            SpaceSettings after = change.apply(before);
            if (after.asMap().isEmpty()) {
                throw new IllegalArgumentException("a space must have a setting; remove it to have none");
            }
            checkPromise(before.promise(), after.promise());
            checkNotRefused(before, after);
            if (!present.containsKey(prefix) && present.size() == MAX_SPACES) {
                throw new IllegalArgumentException(
                        "there are " + MAX_SPACES + " spaces already, which is the most; remove one first");
            }
            activities.computeIfPresent(prefix, (any, activity) -> forgetDebt(activity, before, after));
            make(prefix, after);
            return Objects.requireNonNull(get(prefix));
        } finally {
            changing.unlock();
        }
    }

    /**
     * Removes a space: its documents belong to the space with the next shorter prefix, if there is one, or to none.
     * Durable on return.
     *
     * @return whether there was one
     */
    public boolean remove(Prefix prefix) {
        changing.lock();
        try {
            boolean present = journal.settings().containsKey(prefix);
            if (present) {
                make(prefix, null);
            }
            return present;
        } finally {
            changing.unlock();
        }
    }

    private void checkPromise(@Nullable Promise before, @Nullable Promise after) {
        if (after == null || after == before || server.allows(after)) {
            return;
        }
        String problem = SpaceSetting.DURABILITY.key() + " cannot be " + after.word() + " here: ";
        if (server == Promise.REPLICATED) {
            throw new IllegalArgumentException(problem + "every document of a cluster is replicated");
        }
        if (after == Promise.REPLICATED) {
            throw new IllegalArgumentException(problem + "the server is no part of a cluster");
        }
        throw new IllegalArgumentException(problem + "the server itself promises no more than " + server.word()
                + "; start it with --durability " + after.word());
    }

    private void checkNotRefused(SpaceSettings before, SpaceSettings after) {
        refused.forEach((setting, why) -> {
            if (after.has(setting) && !isSame(setting, before, after)) {
                throw new IllegalArgumentException(setting.key() + " cannot be set here: " + why);
            }
        });
    }

    /** What was taken at an old rate would have to be paid for at that rate, perhaps for days. */
    private Activity forgetDebt(Activity activity, SpaceSettings before, SpaceSettings after) {
        long now = nanoTime.getAsLong();
        return activity.with(
                isSame(SpaceSetting.WRITES_PER_SECOND, before, after) ? activity.writeRate : new RateLimit(now),
                isSame(SpaceSetting.BYTES_PER_SECOND, before, after) ? activity.byteRate : new RateLimit(now));
    }

    private static boolean isSame(SpaceSetting setting, SpaceSettings before, SpaceSettings after) {
        return before.get(setting) == after.get(setting);
    }

    private void make(Prefix prefix, @Nullable SpaceSettings settings) {
        CompletableFuture<Long> durable = journal.write(prefix, settings);
        if (settings == null) {
            activities.remove(prefix);
        }
        publish();
        try {
            // What was written by the settings before is in the store: publishing has passed by the lock of each name.
            store.flush();
            durable.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw failed;
        }
    }

    /** Makes a new table valid, and then counts the documents in it. */
    private void publish() {
        SpaceTable made = new SpaceTable(
                journal.settings(),
                server,
                prefix -> activities.computeIfAbsent(prefix, any -> new Activity(nanoTime.getAsLong())),
                table);
        table = made;
        for (int stripe = 0; stripe < Catalog.STRIPES; stripe++) {
            int counted = stripe;
            catalog.whileUnchanged(stripe, documents -> {
                if (!made.counted(counted)) {
                    documents.forEach(document -> count(made, document));
                    made.nowCounted(counted);
                }
            });
        }
    }

    private void count(SpaceTable made, NamedDocument document) {
        Space space = made.find(document.name());
        if (space != null) {
            ListInfo list = store.accepted(document.state().id());
            space.found(list == null ? 0 : list.bytes());
        }
    }
}
