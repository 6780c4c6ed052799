package io.caravan.server.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.Eventually;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;

/** In-memory documents with strings as values, blocking calls, and a clock that the test sets. */
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
        return new DocumentService(
                store, Catalog.open(store, 0), () -> now, () -> nanos, Duration.ofSeconds(1), DocumentDurability.SYNC);
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

    /** Moves the wall clock by {@code ahead} without changing the monotonic clock. */
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

    /** Checks that a change is rejected for this reason, and returns the exception that it throws. */
    static DocumentException rejected(Reason reason, ThrowingCallable change) {
        DocumentException rejection = catchThrowableOfType(DocumentException.class, change);
        assertThat(rejection).as("rejection").isNotNull();
        assertThat(rejection.reason()).isEqualTo(reason);
        return rejection;
    }

    /** Returns a request for an expiring plain-text document with one value. */
    static CreateRequest expiring(OptionalLong ttlSeconds, OptionalLong atMillis) {
        return new CreateRequest("text/plain", ttlSeconds, atMillis, false, values("a"), null);
    }

    /**
     * Returns a request for a fork that starts with the values of its source up to {@code at}, or up to the end, and
     * adds its own values.
     */
    static CreateRequest fork(String source, OptionalLong at, String... values) {
        return fork(new ForkPoint(name(source), at, 0), OptionalLong.empty(), values);
    }

    static CreateRequest fork(ForkPoint point, OptionalLong ttlSeconds, String... values) {
        return new CreateRequest(null, ttlSeconds, OptionalLong.empty(), false, values(values), point);
    }

    /** Changes a document, and throws the exception with which the change is rejected, if any. */
    <T> T change(String name, Function<EditedDocument, T> change) {
        return Outcome.<T>await(outcome -> service.write(name(name), change, outcome));
    }

    /** Changes several documents, and throws the exception with which the change is rejected, if any. */
    <T> T change(List<DocumentName> names, Function<DocumentEdits, T> change) {
        return Outcome.<T>await(outcome -> service.write(names, change, outcome));
    }

    /** Performs an import step, and returns its result. */
    @SuppressWarnings("unchecked") // The caller knows the type of the result.
    <T> T importStep(
            String name,
            ImportStep.Kind kind,
            Replaced replaced,
            DocumentAttributes attributes,
            List<byte[]> values,
            Long... numbers) {
        ImportStep step = new ImportStep(kind, List.of(numbers), replaced, attributes, values);
        return (T) this.<Object>change(name, step::applyTo);
    }

    /** Performs an import step that creates no document and takes no attributes, and returns its result. */
    <T> T importStep(String name, ImportStep.Kind kind, List<byte[]> values, Long... numbers) {
        return importStep(name, kind, Replaced.NOTHING, DocumentAttributes.NONE, values, numbers);
    }

    void edit(String name, Consumer<EditedDocument> change) {
        change(name, document -> {
            change.accept(document);
            return true;
        });
    }

    /** Edits a document without fetching it from the archive, as the code that fetches documents does. */
    void editLocal(String name, Consumer<EditedDocument> change) {
        Function<EditedDocument, Boolean> edit = document -> {
            change.accept(document);
            return true;
        };
        Outcome.<Boolean>await(outcome -> service.writeLocal(name(name), edit, outcome));
    }

    /** Marks a document as archived. Returns whether the mark was set. */
    boolean mark(String name, long id, ArchiveMark mark) {
        return Outcome.<Boolean>await(
                outcome -> service.writeLocal(name(name), document -> document.mark(id, mark), outcome));
    }

    Space set(String prefix, SpaceSetting setting, long value) {
        Prefix parsed = Prefix.of(prefix.getBytes(StandardCharsets.UTF_8));
        return service.spaces().set(parsed, before -> before.with(setting, value));
    }

    long push(String name, String... values) {
        DocumentName document = name(name);
        return change(
                List.of(document), Append.of(document, values(values), info -> info.nextSequence() - values.length));
    }

    Created create(String name, String type, String... values) {
        return create(
                name, new CreateRequest(type, OptionalLong.empty(), OptionalLong.empty(), false, values(values), null));
    }

    Created create(String name, CreateRequest creation) {
        return Outcome.<Created>await(outcome -> service.create(name(name), creation, outcome));
    }

    AppendRequest.Added add(AppendRequest addition) {
        return change(List.of(addition.name()), addition);
    }

    boolean delete(String name) {
        return this.<Boolean>change(name, EditedDocument::delete);
    }

    /** Waits until the sweeper has left only {@code count} documents. */
    void awaitSweptTo(long count) {
        Eventually.await("swept to " + count, () -> service.documents() == count);
    }

    /** Waits until the sweeper has checked all documents, that is, until it has deleted two expired ones in turn. */
    void awaitSweep() {
        long count = service.documents();
        for (int i = 0; i < 2; i++) {
            create("expired", expiring(OptionalLong.empty(), OptionalLong.of(nowMillis())));
            awaitSweptTo(count);
        }
    }

    @Nullable
    DocumentInfo find(String name) {
        return service.find(name(name));
    }

    /** Returns information about a document, which must exist. */
    DocumentInfo found(String name) {
        return Objects.requireNonNull(find(name));
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
