package io.caravan.server.document.space;

import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreVersionException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Manages the spaces of a store. A document belongs to the space with the longest prefix that its name starts with.
 * Only the settings of this space apply: a space inherits no settings.
 *
 * <p>Any thread may look up a space; a lookup costs only a few comparisons. Methods that update spaces require a thread
 * that may wait: creating or removing a space recounts all documents, because some documents then belong to another
 * space.
 *
 * <p>The settings are stored in a list of the store. An entry contains the new settings of one space:
 *
 * <ul>
 * <li>a version, 1, in one byte;
 * <li>the length of the prefix in 2 bytes, big-endian, and the prefix;
 * <li>to the end of the entry, the settings as {@link Attributes}, each value in 8 bytes, big-endian; none if the space
 *       was removed.
 * </ul>
 *
 * <p>Once the list would retain more than twice as many entries as there are spaces, an update replaces all of them.
 */
public final class Spaces {
    public static final int MAX_SPACES = 1_000;
    public static final long LIST_ID = -4;

    private static final byte VERSION = 1;
    private static final String FILE = "list of spaces";

    private final ListStore store;
    private final Catalog catalog;
    private final LongSupplier nanoTime;
    private final DocumentDurability server;
    /** Held while spaces are updated. Acquired before the locks of the catalog and the store. */
    private final ReentrantLock changing = new ReentrantLock();
    /** The stored settings of the spaces. Guarded by {@link #changing}. */
    private SortedMap<Prefix, SpaceSettings> stored = new TreeMap<>();
    /** The sequences of the list. Guarded by {@link #changing}. */
    private long firstSequence;

    private long nextSequence;

    /** The settings that cannot be set because they have no effect on this server, each with the reason. */
    private final Map<SpaceSetting, String> rejected = new ConcurrentHashMap<>();

    /**
     * The spaces, in the order of their prefixes. If a name starts with a prefix, every string that sorts between the
     * two also starts with that prefix. Therefore, the last prefix that does not sort after a name is either a prefix
     * of the name or lies within the space that contains the name.
     */
    private volatile List<Space> spaces = List.of();
    /**
     * The number of stripes whose documents are counted in {@link #spaces}, updated under the lock of the stripe that
     * was counted last. The reference is guarded by {@link #changing}.
     */
    private AtomicInteger countedStripes = new AtomicInteger();

    /**
     * Reads the spaces and, if any exist, counts all documents.
     *
     * @param nanoTime a clock like {@link System#nanoTime()}, for rates
     * @param server the durability of documents in no space, which is also the maximum durability in any space
     */
    public Spaces(ListStore store, Catalog catalog, LongSupplier nanoTime, DocumentDurability server) {
        this.store = store;
        this.catalog = catalog;
        this.nanoTime = nanoTime;
        this.server = server;
        ListInfo list = store.info(LIST_ID);
        if (list != null) {
            firstSequence = list.firstSequence();
            nextSequence = list.nextSequence();
            store.get(LIST_ID, this::load);
        }
        if (!stored.isEmpty()) {
            publish();
        }
    }

    private boolean load(long sequence, ByteBuffer entry) {
        try {
            byte version = entry.get();
            if (version != VERSION) {
                throw new StoreVersionException(FILE, version, VERSION, VERSION);
            }
            byte[] prefix = new byte[Short.toUnsignedInt(entry.getShort())];
            entry.get(prefix);
            byte[] encoded = new byte[entry.remaining()];
            entry.get(encoded);
            SpaceSettings settings = SpaceSettings.decode(Attributes.decode(encoded));
            if (settings == null) {
                throw new StoreVersionException(FILE, VERSION + 1, VERSION, VERSION);
            }
            put(stored, Prefix.of(prefix), settings);
            return true;
        } catch (BufferUnderflowException | IllegalArgumentException invalid) {
            throw new CorruptStoreException(
                    FILE, 0, LIST_ID, sequence, "is not an entry of a space: " + invalid.getMessage());
        }
    }

    private static void put(Map<Prefix, SpaceSettings> spaces, Prefix prefix, SpaceSettings settings) {
        if (settings.isEmpty()) {
            spaces.remove(prefix);
        } else {
            spaces.put(prefix, settings);
        }
    }

    private static byte[] encode(Prefix prefix, SpaceSettings settings) {
        byte[] encoded = settings.encode().encoded();
        return ByteBuffer.allocate(Byte.BYTES + Short.BYTES + prefix.length() + encoded.length)
                .put(VERSION)
                .putShort((short) prefix.length())
                .put(prefix.toBytes())
                .put(encoded)
                .array();
    }

    /** Whether no spaces exist, so that lookups and counts are unnecessary. */
    public boolean isEmpty() {
        return spaces.isEmpty();
    }

    /** Returns the space to which a document with this name belongs, or null. Allocates no memory and takes no lock. */
    public @Nullable Space find(DocumentName name) {
        return find(spaces, name);
    }

    private static @Nullable Space find(List<Space> spaces, DocumentName name) {
        int from = 0;
        int to = spaces.size();
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (spaces.get(middle).prefix().isAfter(name)) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        Space space = from == 0 ? null : spaces.get(from - 1);
        while (space != null && !space.prefix().begins(name)) {
            space = space.enclosing();
        }
        return space;
    }

    public DocumentDurability server() {
        return server;
    }

    /** Returns the durability of an acknowledged write to a document with this name. As fast as {@link #find}. */
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

    public List<Space> all() {
        return spaces;
    }

    public @Nullable Space get(Prefix prefix) {
        return spaces.stream()
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
            SpaceSettings before = stored.getOrDefault(prefix, SpaceSettings.NONE);
            SpaceSettings after = change.apply(before);
            if (after.isEmpty()) {
                throw new IllegalArgumentException("a space must have a setting; remove it to have none");
            }
            checkDurability(before.durability(), after.durability());
            checkNotRejected(before, after);
            if (!stored.containsKey(prefix) && stored.size() == MAX_SPACES) {
                throw new IllegalArgumentException(
                        "there are already " + MAX_SPACES + " spaces, the maximum; remove one first");
            }
            apply(prefix, after);
            return Objects.requireNonNull(get(prefix));
        } finally {
            changing.unlock();
        }
    }

    /** Removes a space, durably, and returns whether it existed. */
    public boolean remove(Prefix prefix) {
        changing.lock();
        try {
            boolean present = stored.containsKey(prefix);
            if (present) {
                apply(prefix, SpaceSettings.NONE);
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
            if (after.has(setting) && before.get(setting) != after.get(setting)) {
                throw new IllegalArgumentException(setting.key() + " cannot be set here: " + why);
            }
        });
    }

    /** Writes the new settings of a space, none to remove it, and publishes them. If the store throws, nothing changes. */
    private void apply(Prefix prefix, SpaceSettings settings) {
        SortedMap<Prefix, SpaceSettings> after = new TreeMap<>(stored);
        put(after, prefix, settings);
        boolean replaces = nextSequence + 1 - firstSequence > 2L * after.size();
        Map<Prefix, SpaceSettings> written = replaces ? after : Map.of(prefix, settings);
        WriteBatch batch = WriteBatch.create();
        written.forEach((each, its) -> batch.append(LIST_ID, encode(each, its)));
        long first = replaces ? nextSequence : firstSequence;
        batch.trimTo(LIST_ID, first);
        CompletableFuture<Long> durable = new CompletableFuture<>();
        store.write(batch, WriteCallback.completing(durable));
        stored = after;
        firstSequence = first;
        nextSequence += written.size();
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

    /** Publishes the spaces, and then counts their documents, unless the counts of the same spaces are complete. */
    private void publish() {
        Map<Prefix, Space> before = spaces.stream().collect(Collectors.toMap(Space::prefix, space -> space));
        boolean counted =
                countedStripes.get() == Catalog.STRIPES && before.keySet().equals(stored.keySet());
        AtomicInteger progress = new AtomicInteger(counted ? Catalog.STRIPES : 0);
        List<Space> made = new ArrayList<>(stored.size());
        Space last = null;
        for (Map.Entry<Prefix, SpaceSettings> each : stored.entrySet()) {
            Prefix prefix = each.getKey();
            while (last != null && !prefix.startsWith(last.prefix())) {
                last = last.enclosing();
            }
            last = new Space(prefix, each.getValue(), server, nanoTime.getAsLong(), last, progress, before.get(prefix));
            made.add(last);
        }
        List<Space> published = List.copyOf(made);
        countedStripes = progress;
        spaces = published;
        for (int stripe = 0; stripe < Catalog.STRIPES; stripe++) {
            int next = stripe;
            catalog.whileUnchanged(stripe, documents -> {
                if (progress.get() <= next) {
                    documents.forEach(document -> count(published, document));
                    progress.set(next + 1);
                }
            });
        }
    }

    private void count(List<Space> published, NamedDocument document) {
        Space space = find(published, document.name());
        if (space != null) {
            ListInfo list = store.accepted(document.state().id());
            space.countExisting(list == null ? 0 : list.bytes());
        }
    }
}
