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
 * Manages the spaces of a store. A document belongs to the space with the longest prefix that its name starts with.
 * Only the settings of this space apply: a space inherits no settings.
 *
 * <p>Any thread may look up a space; a lookup costs only a few comparisons. Methods that update spaces require a thread
 * that may wait: creating or removing a space recounts all documents, because some documents then belong to another
 * space.
 */
public final class Spaces {
    /** Maximum number of spaces. */
    public static final int MAX_SPACES = 1_000;
    /** The id of the list that contains the settings of the spaces. */
    public static final long LIST_ID = SpaceJournal.LIST_ID;

    private final ListStore store;
    private final Catalog catalog;
    private final LongSupplier nanoTime;
    private final DocumentDurability server;
    /** The counters of each space, by prefix; kept as long as a space with that prefix exists. */
    private final Map<Prefix, SpaceCounters> counters = new ConcurrentHashMap<>();

    /** The lock that is held while spaces are updated. It is acquired before the locks of the catalog and the store. */
    private final ReentrantLock changing = new ReentrantLock();
    /** The stored settings of the spaces. Guarded by {@link #changing}. */
    private final SpaceJournal journal;

    /** The settings that cannot be set because they have no effect on this server, each with the reason. */
    private final Map<SpaceSetting, String> rejected = new ConcurrentHashMap<>();

    private volatile SpaceTable table = SpaceTable.EMPTY;

    /**
     * Reads the spaces and, if any exist, counts their documents, which takes time proportional to the total number of
     * documents.
     *
     * @param nanoTime a clock like {@link System#nanoTime()}, for rates
     * @param server the durability of documents in no space, which is also the maximum durability in any space
     */
    public Spaces(ListStore store, Catalog catalog, LongSupplier nanoTime, DocumentDurability server) {
        this.store = store;
        this.catalog = catalog;
        this.nanoTime = nanoTime;
        this.server = server;
        this.journal = new SpaceJournal(store);
        if (!journal.settings().isEmpty()) {
            publish();
        }
    }

    /** Whether no spaces exist, so that lookups and counts are unnecessary. */
    public boolean isEmpty() {
        return table.isEmpty();
    }

    /** Returns the space to which a document with this name belongs, or null. Allocates no memory and takes no lock. */
    public @Nullable Space find(DocumentName name) {
        return table.find(name);
    }

    /** Returns the durability of documents outside all spaces, which is also the maximum durability in any space. */
    public DocumentDurability server() {
        return server;
    }

    /**
     * Returns the durability of an acknowledged write to a document with this name. Allocates no memory and takes no
     * lock.
     */
    public DocumentDurability durability(DocumentName name) {
        Space space = find(name);
        return space == null ? server : space.durability();
    }

    /** Rejects these settings from now on, because they have no effect on this server. Existing values stay set. */
    public void reject(String why, SpaceSetting... settings) {
        for (SpaceSetting setting : settings) {
            rejected.put(setting, why);
        }
    }

    /** Returns all spaces, in the order of their prefixes. */
    public List<Space> all() {
        return table.all();
    }

    /** Returns the space with exactly this prefix, or null. */
    public @Nullable Space get(Prefix prefix) {
        return table.all().stream()
                .filter(space -> space.prefix().equals(prefix))
                .findAny()
                .orElse(null);
    }

    /**
     * Creates a space, or changes its settings. The settings apply to every write that begins after this method
     * returns, and may apply to earlier writes. The quotas of all spaces apply on return.
     *
     * <p>The settings are durable on return. Earlier writes have then reached the durability of the server, and thus at
     * least the new durability of their document.
     *
     * @param change receives the current settings, and is called only once
     * @return the space
     * @throws IllegalArgumentException when the settings are rejected, for example because there would be more than
     *     {@link #MAX_SPACES} spaces, or when {@code change} throws this exception; nothing has then changed
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
            checkDurability(before.durability(), after.durability());
            checkNotRejected(before, after);
            if (!present.containsKey(prefix) && present.size() == MAX_SPACES) {
                throw new IllegalArgumentException(
                        "there are already " + MAX_SPACES + " spaces, the maximum; remove one first");
            }
            counters.computeIfPresent(prefix, (any, counted) -> forgiveDebt(counted, before, after));
            apply(prefix, after);
            return Objects.requireNonNull(get(prefix));
        } finally {
            changing.unlock();
        }
    }

    /**
     * Removes a space. Its documents then belong to the space with the next shorter prefix, or to no space. The removal
     * is durable on return.
     *
     * @return whether the space existed
     */
    public boolean remove(Prefix prefix) {
        changing.lock();
        try {
            boolean present = journal.settings().containsKey(prefix);
            if (present) {
                apply(prefix, null);
            }
            return present;
        } finally {
            changing.unlock();
        }
    }

    private void checkDurability(@Nullable DocumentDurability before, @Nullable DocumentDurability after) {
        if (after == null || after == before || server.allows(after)) {
            return;
        }
        String problem = SpaceSetting.DURABILITY.key() + " cannot be " + after.word() + " here: ";
        if (server == DocumentDurability.REPLICATED) {
            throw new IllegalArgumentException(problem + "every document of a cluster is replicated");
        }
        if (after == DocumentDurability.REPLICATED) {
            throw new IllegalArgumentException(problem + "the server is not part of a cluster");
        }
        throw new IllegalArgumentException(problem + "the server offers at most " + server.word()
                + "; start it with --durability " + after.word());
    }

    private void checkNotRejected(SpaceSettings before, SpaceSettings after) {
        rejected.forEach((setting, why) -> {
            if (after.has(setting) && !isSame(setting, before, after)) {
                throw new IllegalArgumentException(setting.key() + " cannot be set here: " + why);
            }
        });
    }

    /**
     * Resets the rate limits whose rates change. Otherwise, writers would have to wait for the old debt to be repaid at
     * the old rate, perhaps for days.
     */
    private SpaceCounters forgiveDebt(SpaceCounters counters, SpaceSettings before, SpaceSettings after) {
        long now = nanoTime.getAsLong();
        return new SpaceCounters(
                isSame(SpaceSetting.WRITES_PER_SECOND, before, after) ? counters.writeRate() : new RateLimit(now),
                isSame(SpaceSetting.BYTES_PER_SECOND, before, after) ? counters.byteRate() : new RateLimit(now),
                counters.counts());
    }

    private static boolean isSame(SpaceSetting setting, SpaceSettings before, SpaceSettings after) {
        return before.get(setting) == after.get(setting);
    }

    private void apply(Prefix prefix, @Nullable SpaceSettings settings) {
        CompletableFuture<Long> durable = journal.write(prefix, settings);
        if (settings == null) {
            counters.remove(prefix);
        }
        publish();
        try {
            // The store has accepted all writes under the previous settings, because publishing has acquired the lock
            // of each name.
            store.flush();
            durable.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw failed;
        }
    }

    /** Publishes a new table, and then counts the documents in its spaces. */
    private void publish() {
        SpaceTable made = new SpaceTable(
                journal.settings(),
                server,
                prefix -> counters.computeIfAbsent(prefix, any -> new SpaceCounters(nanoTime.getAsLong())),
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
            space.countExisting(list == null ? 0 : list.bytes());
        }
    }
}
