package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.TrimmedException;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The documents of one store, by name.
 *
 * <p><b>Changes</b> are decided on and accepted at once, in the calling thread, and told of when they are durable. They
 * wait when the store has no room: a thread that must not wait asks {@link #writable()} first.
 *
 * <p><b>Reads</b> wait until what they tell is durable, so they are for threads that may wait. A read that is asked for
 * after a change was accepted sees the change.
 */
public final class DocumentService {
    private final ListStore store;
    private final Catalog catalog;

    public DocumentService(ListStore store, Catalog catalog) {
        this.store = store;
        this.catalog = catalog;
    }

    /**
     * Appends values, all of them or none, and creates the document when there is none. Tells the document's state right
     * after.
     *
     * @param values one or more
     */
    public void append(DocumentName name, List<byte[]> values, Outcome<DocumentState> outcome) {
        try (Edit edit = catalog.edit(name)) {
            DocumentEdit document = edit.document(name);
            values.forEach(document::append);
            commit(edit, Objects.requireNonNull(document.state()), outcome);
        } catch (CaravanException refused) {
            outcome.failure(refused);
        }
    }

    /**
     * Drops values from the document's head. Tells how many are left; 0 when there is no document.
     *
     * @param firstKept chooses the sequence of the first value to keep; what it throws is thrown here, and nothing has
     *     then changed
     */
    public void trim(DocumentName name, ToLongFunction<DocumentState> firstKept, Outcome<Long> outcome) {
        try (Edit edit = catalog.edit(name)) {
            DocumentEdit document = edit.document(name);
            DocumentState state = document.state();
            if (state != null) {
                document.trimTo(firstKept.applyAsLong(state));
            }
            DocumentState after = document.state();
            commit(edit, after == null ? 0L : after.length(), outcome);
        } catch (CaravanException refused) {
            outcome.failure(refused);
        }
    }

    /** Deletes documents, all of them or none. Tells how many of them held values. */
    public void delete(Collection<DocumentName> names, Outcome<Integer> outcome) {
        try (Edit edit = catalog.edit(names)) {
            int held = 0;
            for (DocumentName name : names) {
                DocumentState state = edit.document(name).state();
                held += state != null && state.length() > 0 ? 1 : 0;
                edit.document(name).delete();
            }
            commit(edit, held, outcome);
        } catch (CaravanException refused) {
            outcome.failure(refused);
        }
    }

    private static <T> void commit(Edit edit, T result, Outcome<T> outcome) {
        edit.commit(new WriteCallback() {
            @Override
            public void success(long sequence) {
                outcome.success(result);
            }

            @Override
            public void failure(CaravanException problem) {
                outcome.failure(problem);
            }
        });
    }

    /** What the document's list holds, or null when there is no document or it never held a value. */
    public @Nullable ListInfo info(DocumentName name) {
        DocumentState state = catalog.find(name);
        return state == null ? null : store.info(state.id());
    }

    /** Number of values that the document holds; 0 when there is none. */
    public long length(DocumentName name) {
        ListInfo info = info(name);
        return info == null ? 0 : info.count();
    }

    /**
     * Reads some of a document's values, as they are at one moment.
     *
     * @param choice chooses what to read of what is there; it may be asked again when the document is trimmed meanwhile
     */
    public void read(DocumentName name, Function<ListInfo, SequenceRange> choice, DocumentReader reader) {
        boolean done = false;
        while (!done) {
            ListInfo info = info(name);
            SequenceRange range = info == null ? SequenceRange.EMPTY : choice.apply(info);
            if (info == null || range.count() == 0) {
                reader.begin(0);
                return;
            }
            done = read(info.id(), range, reader);
        }
    }

    /** Returns false when the list was trimmed past the range, or deleted, before the read had begun. */
    private boolean read(long id, SequenceRange range, DocumentReader reader) {
        RangeStream stream = new RangeStream(range, reader);
        try {
            store.get(id, range.from(), stream);
        } catch (TrimmedException meanwhile) {
            return false;
        }
        return stream.begun;
    }

    /** Passes on one range of a list, which is all there once its first value is: a read sees the list at one moment. */
    private static final class RangeStream implements EntryStream {
        private final SequenceRange range;
        private final DocumentReader reader;
        private boolean begun;

        RangeStream(SequenceRange range, DocumentReader reader) {
            this.range = range;
            this.reader = reader;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            if (!begun) {
                begun = true;
                reader.begin(range.count());
            }
            return reader.next(sequence, value) && sequence + 1 < range.to();
        }

        @Override
        public void finished() {}
    }

    /** Number of documents. */
    public long documents() {
        return catalog.size();
    }

    /** See {@link ListStore#writable()}. */
    public boolean writable() {
        return store.writable();
    }

    /** See {@link ListStore#onWritable(Runnable)}. */
    public void onWritable(Runnable action) {
        store.onWritable(action);
    }

    /** See {@link ListStore#stats()}. */
    public StoreStats stats() {
        return store.stats();
    }
}
