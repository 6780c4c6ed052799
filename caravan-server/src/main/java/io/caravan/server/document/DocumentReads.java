package io.caravan.server.document;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.TrimmedException;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.document.DocumentAttributes.Fork;
import io.caravan.server.document.DocumentException.Reason;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Implements the reads of {@link DocumentService}, for threads that may block. The values of a fork are stored in
 * several lists: the list of each source, up to the next fork point, and the fork's own list.
 */
abstract class DocumentReads {
    final ListStore store;
    final Catalog catalog;
    final Expiry expiry;
    /** The archive in which to find documents that the store lacks. */
    volatile ColdDocuments cold = ColdDocuments.NONE;

    volatile boolean incomplete;

    private final LongAdder reads = new LongAdder();

    DocumentReads(ListStore store, Catalog catalog, Expiry expiry) {
        this.store = store;
        this.catalog = catalog;
        this.expiry = expiry;
    }

    /** Whether the archive may contain documents that the store lacks, according to the last {@link #scan}. */
    public boolean incomplete() {
        return incomplete;
    }

    /** Returns the number of reads since the service was created; a read of several values counts once. */
    public long reads() {
        return reads.sum();
    }

    /**
     * Returns the state of the document, or null if it does not exist.
     *
     * @throws DocumentException {@code GONE}
     */
    public @Nullable DocumentInfo find(DocumentName name) {
        if (cold != ColdDocuments.NONE && lacks(name)) {
            cold.await(name);
        }
        return seen(name, durable(name));
    }

    /**
     * Whether the archive may have a document that the store lacks, or whose waiting writes it still lacks. Looks the
     * document up, so callers first check whether there is an archive.
     */
    boolean lacks(DocumentName name) {
        ColdDocuments documents = cold;
        return documents.fetching(name) || catalog.peek(name) == null && documents.mayHave(name);
    }

    private @Nullable DocumentInfo seen(DocumentName name, @Nullable DocumentInfo info) {
        return info == null || expiry.expired(info) ? null : EditedDocument.visible(name, info);
    }

    /**
     * Returns the accepted state of the document, which may not be durable yet, or null if no visible document exists.
     * Neither checks the archive or the expiry, nor waits for writes.
     */
    public @Nullable DocumentInfo peek(DocumentName name) {
        DocumentInfo info = accepted(name);
        return info == null || !info.attributes().visible() ? null : info;
    }

    private @Nullable DocumentInfo accepted(DocumentName name) {
        DocumentState state = catalog.peek(name);
        return state == null ? null : DocumentInfo.of(state);
    }

    /** Whether the document was moved to another server, according to the accepted writes. */
    public boolean moved(DocumentName name) {
        DocumentInfo info = accepted(name);
        return info != null && info.attributes().has(DocumentAttributes.MOVED);
    }

    /** Returns the state of the document, with the sequences of its durable values, or null if it does not exist. */
    private @Nullable DocumentInfo durable(DocumentName name) {
        while (true) {
            DocumentState state = catalog.find(name);
            if (state == null) {
                return null;
            }
            ListInfo list = store.info(state.id());
            if (list != null || state.nextSequence() == 0) {
                return DocumentInfo.of(
                        state.id(),
                        list == null ? 0 : list.firstSequence(),
                        list == null ? 0 : list.nextSequence(),
                        DocumentAttributes.of(state.attributes()));
            }
            // The document was deleted between the two lookups.
        }
    }

    /**
     * Reads a range of a document's values at a single point in time, and extends a sliding expiry.
     *
     * @param choice chooses the range to read; may be called again when the document is trimmed concurrently
     * @throws DocumentException {@code GONE}; {@code CHANGED} when a fork was trimmed or deleted during the
     *     read
     */
    public void read(DocumentName name, Function<DocumentInfo, SequenceRange> choice, DocumentReader reader) {
        read(name, this::find, choice, reader);
    }

    /** Reads as {@link #read} does, but does not check the archive, because an archive fetch may wait for this read. */
    void readLocal(DocumentName name, Function<DocumentInfo, SequenceRange> choice, DocumentReader reader) {
        read(name, here -> seen(here, durable(here)), choice, reader);
    }

    private void read(
            DocumentName name,
            Function<DocumentName, @Nullable DocumentInfo> find,
            Function<DocumentInfo, SequenceRange> choice,
            DocumentReader reader) {
        reads.increment();
        DocumentInfo info;
        SequenceRange range;
        do {
            info = find.apply(name);
            range = info == null ? SequenceRange.EMPTY : choice.apply(info);
            if (info == null || range.count() == 0) {
                reader.begin(0);
                return;
            }
            use(name, info);
        } while (!read(name, info, range, reader));
    }

    /** Reads like {@link #read}, and returns the first value of the range, or null if the range is empty. */
    public byte @Nullable [] value(DocumentName name, Function<DocumentInfo, SequenceRange> choice) {
        AtomicReference<byte @Nullable []> found = new AtomicReference<>();
        read(name, choice, (sequence, value) -> {
            found.set(Attribute.bytes(value));
            return false;
        });
        return found.get();
    }

    /**
     * Returns one page of a scan of all documents. A document that exists all the time is on exactly one page.
     *
     * @param cursor 0 to begin, then {@link ScanPage#next()}
     * @param limit maximum number of documents on the page, at least 1; a page may contain fewer, or none
     * @throws IllegalArgumentException when the cursor is below zero
     */
    public ScanPage scan(long cursor, int limit) {
        if (incomplete) {
            // An open store can become complete, by claiming an archive of its own, but a complete store stays
            // complete.
            incomplete = StoreIdentity.incomplete(store) || store.info(StoreIdentity.ARCHIVE_LIST_ID) == null;
        }
        Catalog.Page page = catalog.page(cursor, limit);
        List<ScanPage.Found> found = found(page.documents());
        // Without this flush, a crash could undo the creation of a listed document.
        store.flush();
        return new ScanPage(page.next(), found);
    }

    /** Returns the accepted state, perhaps not durable yet, of the visible documents in one stripe, in no order. */
    public List<ScanPage.Found> stripe(int stripe) {
        return found(catalog.list(stripe, raw -> DocumentAttributes.of(raw).visible()));
    }

    private List<ScanPage.Found> found(List<NamedDocument> documents) {
        return documents.stream()
                .map(document -> new ScanPage.Found(document.name(), DocumentInfo.of(document.state())))
                .filter(found -> present(found.info()))
                .toList();
    }

    private boolean present(DocumentInfo info) {
        return info.attributes().visible() && !expiry.expired(info);
    }

    /**
     * Reads a complete, durable document, with its attributes, as of one moment. Does not extend a sliding expiry.
     *
     * @return false if the document does not exist; the receiver has then not been called
     * @throws DocumentException {@code CHANGED} when a fork was trimmed or deleted during the read
     */
    public boolean snapshot(DocumentName name, DocumentReader receiver) {
        while (true) {
            // These sequences and attributes are consistent, but may not be durable yet; the read below waits until
            // they are.
            DocumentState state = catalog.find(name);
            DocumentInfo info = state == null ? null : DocumentInfo.of(state);
            if (info == null || !present(info)) {
                return false;
            }
            if (info.count() == 0) {
                // Waits until the write that emptied the document is durable.
                store.info(info.id());
                receiver.begin(info);
                return true;
            }
            SequenceRange all = new SequenceRange(info.firstSequence(), info.nextSequence());
            if (read(name, info, all, receiver)) {
                return true;
            }
        }
    }

    /** Extends the document's sliding expiry, as a read does. */
    public void use(DocumentName name, DocumentInfo info) {
        if (info.attributes().has(DocumentAttributes.TTL)) {
            expiry.use(info.id());
            DocumentInfo now = accepted(name);
            if (now == null || now.id() != info.id()) {
                // The document was deleted concurrently, and nothing else would remove this entry.
                expiry.forget(info.id());
            }
        }
    }

    /** Returns the total length of the document's own values, without those that a fork shares, in bytes. */
    public long bytes(DocumentName name, DocumentInfo info) {
        ListInfo list = store.info(info.id());
        if (list == null) {
            return 0;
        }
        DocumentAttributes attributes = asStored(name, info).attributes();
        long base = attributes.base();
        long timed = attributes.timestamps().count(base + list.firstSequence(), base + list.nextSequence());
        return list.bytes() - timed * Timestamps.BYTES;
    }

    public OptionalLong deadlineMillis(DocumentInfo info) {
        return expiry.deadlineMillis(info);
    }

    /** Reads a range of values. Returns false if it was trimmed, or the document was deleted, before the read began. */
    private boolean read(DocumentName name, DocumentInfo info, SequenceRange range, DocumentReader reader) {
        RangeStream stream = new RangeStream(info, range, reader);
        boolean complete = parts(name, info, range).stream().allMatch(stream::read);
        if (stream.begun && !stream.stopped && !complete) {
            throw new DocumentException(Reason.CHANGED, name, "was trimmed or deleted while it was being read");
        }
        return stream.begun;
    }

    /** The part of a document that is stored in one list, whose sequences are lower by {@code shift}. */
    private record Part(long listId, long shift, SequenceRange range, Timestamps timestamps) {}

    /**
     * Returns the accepted state of the document, or {@code info} if its id has changed. The attributes in {@code info}
     * are older than its sequences, and may not describe how the last values are stored.
     */
    DocumentInfo asStored(DocumentName name, DocumentInfo info) {
        DocumentInfo now = accepted(name);
        return now == null || now.id() != info.id() ? info : now;
    }

    /** Returns the parts of the document that overlap the range, or none if the document no longer exists. */
    private Deque<Part> parts(DocumentName name, DocumentInfo info, SequenceRange range) {
        Deque<Part> parts = new ArrayDeque<>();
        DocumentInfo document = asStored(name, info);
        long to = range.to();
        while (document != null) {
            Fork fork = document.attributes().get(DocumentAttributes.FORK);
            long own = document.attributes().base();
            SequenceRange here = new SequenceRange(Math.max(range.from(), own), to);
            if (here.count() > 0) {
                parts.addFirst(
                        new Part(document.id(), own, here, document.attributes().timestamps()));
            }
            to = Math.min(to, own);
            document = fork == null || range.from() >= own ? null : accepted(fork.source());
        }
        // The document's sources exist as long as the document; afterwards, their names may belong to other documents.
        DocumentInfo still = accepted(name);
        return still == null || still.id() != info.id() ? new ArrayDeque<>() : parts;
    }

    /** Passes a range of values to a reader. If the first value of a list's part is present, all are. */
    private final class RangeStream {
        private final DocumentInfo info;
        private final SequenceRange range;
        private final DocumentReader reader;
        private boolean begun;
        private boolean stopped;
        private long next;

        RangeStream(DocumentInfo info, SequenceRange range, DocumentReader reader) {
            this.info = info;
            this.range = range;
            this.reader = reader;
            this.next = range.from();
        }

        /** Reads the values of one part. Returns false if the read ends with this part. */
        boolean read(Part part) {
            try {
                store.get(
                        part.listId(),
                        part.range().from() - part.shift(),
                        (sequence, value) -> pass(part, sequence + part.shift(), value)
                                && next < part.range().to());
            } catch (TrimmedException trimmed) {
                // No value of this part has been passed.
            }
            return !stopped && next == part.range().to();
        }

        private boolean pass(Part part, long sequence, ByteBuffer value) {
            if (!begun) {
                begun = true;
                if (!reader.begin(info)) {
                    stopped = true;
                    return false;
                }
                reader.begin(range.count());
            }
            next = sequence + 1;
            stopped = !(part.timestamps().covers(sequence)
                    ? reader.next(sequence, Timestamps.take(value), value)
                    : reader.next(sequence, value));
            return !stopped;
        }
    }
}
