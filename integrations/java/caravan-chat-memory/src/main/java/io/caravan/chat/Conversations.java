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
 * Conversations by name: each is a list of messages, which are JSON text.
 *
 * <p><b>In the store</b> a conversation is a document: its name, behind a prefix, is in the store's catalog (list 0), its
 * messages are the entries of a list of its own, so that a server that opens the same directory serves them under these
 * names. Ids from 1 on are the catalog's to give out; an application that keeps lists of its own in the same store gives
 * them ids below zero.
 *
 * <p><b>Durable.</b> A change is one batch of the store: all of it survives a crash or none. A method that changes
 * something returns when the change is durable at the store's level, and a reader sees nothing that a crash could take
 * back.
 *
 * <p><b>Threads</b> may share all of it. Changes of one conversation happen one after the other. Of two threads that
 * both read a conversation and then replace it, the second wins.
 *
 * <p>The store's exceptions pass through: among them {@link io.caravan.ValueTooLargeException} for a message over the
 * store's {@code maxValueBytes}, or for a change over its log buffer, and {@link io.caravan.OutOfSpaceException}; what
 * was refused has changed nothing.
 */
public final class Conversations {
    private static final long CATALOG_LIST = 0;
    /** More than threads usually write at once, so that few conversations wait for another one. */
    private static final int LOCKS = 64;
    /** Documents that are looked at under one hold of a lock of the catalog. */
    private static final int PAGE = 1024;

    /** One catalog for a store, however often it is asked for: two would give out the same ids. Guarded by itself. */
    private static final Map<ListStore, WeakReference<Opened>> OPENED = new WeakHashMap<>();

    private final Opened opened;
    private final String prefix;
    private final byte[] prefixBytes;

    /** What all conversations of a store share. */
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
     * The conversations of a store whose names have this prefix there. Conversations with another prefix are others,
     * though their names be the same. Reads the names of all conversations the first time.
     *
     * @param store one that only this process writes; stays the caller's to close
     * @throws IllegalStateException when the store has lists with ids from 1 on that are no conversations
     * @throws io.caravan.CorruptStoreException when list 0 is not a catalog
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

    /** The names of all conversations that have messages, in no order. */
    public List<String> names() {
        List<String> names = documents(opened.catalog).stream()
                .map(NamedDocument::name)
                .filter(name -> name.startsWith(prefixBytes))
                .map(name -> name.text().substring(prefix.length()))
                .toList();
        opened.store.flush();
        return names;
    }

    /** The messages of a conversation, in their order; none when there is no such conversation. */
    public List<String> messages(String conversation) {
        return transcript(name(conversation)).messages();
    }

    /**
     * Replaces the messages of a conversation, which begins or, with no messages, ends by that. What is written is what
     * was added at the end; what went from the front is trimmed. Only another change, of anything but the first message
     * and its neighbours, writes the conversation anew.
     *
     * @param messages JSON texts; half a surrogate pair, which UTF-8 has no bytes for, is kept as its JSON escape
     * @throws IllegalArgumentException when a message is not JSON text, or the conversation's name is empty, too long
     *     (1,024 bytes of UTF-8 with the prefix), or not Unicode
     */
    public void replace(String conversation, List<String> messages) {
        messages.forEach(Transcript::checkMessage);
        List<String> encodable = messages.stream().map(Transcript::escaped).toList();
        DocumentName name = name(conversation);
        change(name, messages.isEmpty() ? this::remove : changed -> save(changed, encodable));
    }

    /** Deletes a conversation; nothing happens when there is none. */
    public void delete(String conversation) {
        change(name(conversation), this::remove);
    }

    private interface Change {
        CompletableFuture<Long> make(DocumentName name);
    }

    /** Makes a change while nobody else changes the conversation, and waits outside of the lock until it is durable. */
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
            edit.commit(WriteCallback.completing(durable));
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
            edit.commit(WriteCallback.completing(durable));
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
