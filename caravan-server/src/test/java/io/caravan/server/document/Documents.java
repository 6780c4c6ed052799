package io.caravan.server.document;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Creation.Created;
import io.caravan.testing.Eventually;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** In-memory documents with a clock that the test sets, and with calls that wait and use strings as values. */
final class Documents implements AutoCloseable {
    private final ListStore store;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private long nanos;
    private DocumentService service;

    public Documents() {
        this(ListStore.inMemory());
    }

    public Documents(ListStore store) {
        this.store = store;
        this.service = open();
    }

    private DocumentService open() {
        return new DocumentService(store, Catalog.open(store, 0), () -> now, () -> nanos, Duration.ofSeconds(1));
    }

    DocumentService service() {
        return service;
    }

    ListStore store() {
        return store;
    }

    long nowMillis() {
        return now.toEpochMilli();
    }

    void pass(Duration time) {
        now = now.plus(time);
        nanos += time.toNanos();
    }

    /** Moves the wall clock without a change of the monotonic clock. */
    void setClock(Duration ahead) {
        now = now.plus(ahead);
    }

    void reopen() {
        service.close();
        service = open();
    }

    static DocumentName name(String name) {
        return DocumentName.of(name);
    }

    static List<byte[]> values(String... values) {
        return List.of(values).stream()
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    /** Waits for the result of a write, and throws the exception if the write is rejected. */
    static <T> T await(Consumer<Outcome<T>> change) {
        return Waiting.to(change);
    }

    /**
     * Returns a fork that starts with the values of its source, up to a sequence or the end, followed by its own
     * values.
     */
    static Creation fork(String source, OptionalLong at, String... values) {
        return new Creation(
                null,
                OptionalLong.empty(),
                OptionalLong.empty(),
                false,
                values(values),
                new Creation.ForkPoint(name(source), at, 0));
    }

    long push(String name, String... values) {
        return Documents.<Long>await(
                outcome -> service.write(name(name), document -> document.append(values(values)), outcome));
    }

    Created create(String name, String type, String... values) {
        return create(
                name, new Creation(type, OptionalLong.empty(), OptionalLong.empty(), false, values(values), null));
    }

    Created create(String name, Creation creation) {
        return Documents.<Created>await(outcome -> service.create(name(name), creation, outcome));
    }

    Addition.Added add(String name, Addition addition) {
        return Documents.<Addition.Added>await(outcome -> service.append(name(name), addition, outcome));
    }

    boolean delete(String name) {
        return Documents.<Boolean>await(outcome -> service.write(name(name), EditedDocument::delete, outcome));
    }

    /** Waits until {@code count} documents are left. */
    void awaitSweptTo(long count) {
        Eventually.await("swept to " + count, () -> service.documents() == count);
    }

    /** Waits until the sweeper has checked all documents: it must have deleted an expired document twice. */
    void awaitSweep() {
        long count = service.documents();
        for (int i = 0; i < 2; i++) {
            OptionalLong now = OptionalLong.of(nowMillis());
            create("expired", new Creation("text/plain", OptionalLong.empty(), now, false, values("a"), null));
            awaitSweptTo(count);
        }
    }

    @Nullable
    DocumentInfo find(String name) {
        return service.find(name(name));
    }

    List<String> read(String name) {
        List<String> values = new ArrayList<>();
        service.read(
                name(name), info -> new SequenceRange(info.firstSequence(), info.nextSequence()), new DocumentReader() {
                    @Override
                    public void begin(long count) {}

                    @Override
                    public boolean next(long sequence, ByteBuffer value) {
                        return values.add(StandardCharsets.UTF_8.decode(value).toString());
                    }
                });
        return values;
    }

    @Override
    public void close() {
        service.close();
        store.close();
    }
}
