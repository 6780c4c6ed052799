package io.caravan.chat;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import io.caravan.catalog.NamedDocument;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Stores conversations by name in an embedded store. A conversation is a list of messages, each a JSON text.
 *
 * <p><b>In the store,</b> a conversation is a document. The store's catalog (list 0) contains the document's name,
 * which consists of a prefix and the conversation's name. The messages are the entries of the document's list. A server
 * that opens the same directory serves the conversations under these document names. The catalog assigns list ids from
 * 1 on. If an application has other lists in the same store, their ids must be below zero.
 *
 * <p><b>Durability.</b> A change is one batch of the store, which survives a crash completely or not at all. A method
 * that changes a conversation returns when the change has the store's durability. Reads return only durable data.
 *
 * <p><b>Threads.</b> Thread-safe. Changes of one conversation are serialized. If two threads read a conversation and
 * then replace it, the later replacement wins.
 *
 * <p>Methods throw the store's exceptions: for example, {@link io.caravan.OutOfSpaceException}, or
 * {@link io.caravan.ValueTooLargeException} if a message exceeds the store's {@code maxValueBytes} or a change exceeds
 * the store's log buffer. A rejected change has no effect.
 */
public final class Conversations {
    private static final long CATALOG_LIST = 0;
    /**
     * The number of locks that serialize changes to conversations. It exceeds the usual number of concurrent writers,
     * so that conversations rarely wait for each other.
     */
    private static final int LOCKS = 64;
    /** The number of documents to read each time a lock of the catalog is acquired. */
    private static final int PAGE = 1024;

    /** The shared objects for each store. Two catalogs of a store would assign the same ids. Guarded by this map. */
    private static final Map<ListStore, WeakReference<Opened>> OPENED = new WeakHashMap<>();

    private final Opened opened;
    private final String prefix;
    private final byte[] prefixBytes;

    /** The objects that all conversations of a store share. */
    private record Opened(ListStore store, Catalog catalog, List<Lock> locks) {
        Lock lock(DocumentName name) {
            return locks.get(Math.floorMod(name.hashCode(), LOCKS));
        }
    }

    private Conversations(Opened opened, String prefix) {
        this.opened = opened;
        this.prefix = prefix;
        this.prefixBytes = prefix.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the conversations in a store, limited to those whose document names start with this prefix. Conversations
     * with the same name but different prefixes are different conversations. The first call for a store reads the names
     * of all conversations.
     *
     * @param store a store to which only this process writes; the caller must close it
     * @throws IllegalStateException if the store has lists with ids from 1 on that are not conversations
     * @throws io.caravan.CorruptStoreException if list 0 is not a catalog
     */
    public static Conversations of(ListStore store, String prefix) {
        synchronized (OPENED) {
            WeakReference<Opened> reference = OPENED.get(store);
            Opened opened = reference == null ? null : reference.get();
            if (opened == null) {
                opened = open(store);
                OPENED.put(store, new WeakReference<>(opened));
            }
            return new Conversations(opened, prefix);
        }
    }

    private static Opened open(ListStore store) {
        Catalog catalog = Catalog.open(store, CATALOG_LIST);
        Set<Long> known = new HashSet<>();
        documents(catalog).forEach(document -> known.add(document.state().id()));
        store.forEachList(id -> {
            if (id > CATALOG_LIST && !known.contains(id)) {
                throw new IllegalStateException("list " + id + " of the store is no conversation, and its id could be"
                        + " given to one: keep conversations in a store of their own, or give your lists ids below"
                        + " zero");
            }
        });
        return new Opened(
                store,
                catalog,
                Stream.<Lock>generate(ReentrantLock::new).limit(LOCKS).toList());
    }

    private static List<NamedDocument> documents(Catalog catalog) {
        List<NamedDocument> documents = new ArrayList<>();
        long cursor = 0;
        do {
            Catalog.Page page = catalog.page(cursor, PAGE);
            documents.addAll(page.documents());
            cursor = page.next();
        } while (cursor != 0);
        return documents;
    }

    /** Returns the names of all conversations under this prefix that have messages, in no particular order. */
    public List<String> names() {
        List<String> names = documents(opened.catalog).stream()
                .map(NamedDocument::name)
                .filter(name -> name.startsWith(prefixBytes))
                .map(name -> name.text().substring(prefix.length()))
                .toList();
        opened.store.flush();
        return names;
    }

    /** Returns the messages of a conversation in order, or an empty list if the conversation does not exist. */
    public List<String> messages(String conversation) {
        return transcript(name(conversation)).messages();
    }

    /**
     * Replaces the messages of a conversation. Creates the conversation if it does not exist, and deletes it if there
     * are no messages. Appends only the messages added at the end, and trims the messages removed from the front. The
     * first message may also change, and the messages after it may be removed. Any other change rewrites the
     * conversation.
     *
     * @param messages JSON texts; an unpaired surrogate, which UTF-8 cannot encode, is stored as its JSON escape
     * @throws IllegalArgumentException if a message is blank or starts with U+001E (it is then not JSON text), or if
     *     the name is empty, not valid Unicode, or with the prefix longer than 1,024 bytes of UTF-8
     */
    public void replace(String conversation, List<String> messages) {
        messages.forEach(Transcript::checkMessage);
        List<String> encodable = messages.stream().map(Transcript::escaped).toList();
        DocumentName name = name(conversation);
        change(name, messages.isEmpty() ? this::remove : changed -> save(changed, encodable));
    }

    /** Deletes a conversation. Does nothing if it does not exist. */
    public void delete(String conversation) {
        change(name(conversation), this::remove);
    }

    private interface Change {
        CompletableFuture<Long> make(DocumentName name);
    }

    /** Makes a change under the conversation's lock, and then waits without the lock until the change is durable. */
    private void change(DocumentName name, Change change) {
        CompletableFuture<Long> durable;
        Lock lock = opened.lock(name);
        lock.lock();
        try {
            durable = change.make(name);
        } finally {
            lock.unlock();
        }
        try {
            durable.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof CaravanException problem) {
                throw problem;
            }
            throw failed;
        }
    }

    private CompletableFuture<Long> remove(DocumentName name) {
        CompletableFuture<Long> durable = new CompletableFuture<>();
        try (Edit edit = opened.catalog.edit(name)) {
            edit.document(name).delete();
            edit.commit(WriteCallback.completing(durable), true);
        }
        return durable;
    }

    private CompletableFuture<Long> save(DocumentName name, List<String> messages) {
        Transcript.Change change = transcript(name).changeTo(messages);
        CompletableFuture<Long> durable = new CompletableFuture<>();
        try (Edit edit = opened.catalog.edit(name)) {
            DocumentEdit document = edit.document(name);
            document.trimTo(change.keepFrom());
            change.appended().forEach(document::append);
            edit.commit(WriteCallback.completing(durable), true);
        }
        return durable;
    }

    private Transcript transcript(DocumentName name) {
        DocumentState state = opened.catalog.find(name);
        return state == null ? Transcript.EMPTY : Transcript.read(opened.store, state.id());
    }

    private DocumentName name(String conversation) {
        if (conversation.isEmpty()) {
            throw new IllegalArgumentException("a conversation's name must not be empty");
        }
        ByteBuffer encoded;
        try {
            encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(prefix + conversation));
        } catch (CharacterCodingException halfCharacter) {
            throw new IllegalArgumentException(
                    "a conversation's name must be Unicode: '" + conversation + "' has half of a character",
                    halfCharacter);
        }
        if (encoded.remaining() > DocumentName.MAX_BYTES) {
            throw new IllegalArgumentException("a conversation's name must have at most "
                    + (DocumentName.MAX_BYTES - prefixBytes.length) + " bytes of UTF-8, has "
                    + (encoded.remaining() - prefixBytes.length));
        }
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return DocumentName.of(bytes);
    }
}
