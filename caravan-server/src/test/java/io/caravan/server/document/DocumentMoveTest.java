package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.CLOSED;
import static io.caravan.server.document.DocumentAttributes.PRESENT;
import static io.caravan.server.document.Documents.name;
import static io.caravan.server.document.Documents.rejected;
import static io.caravan.server.document.Documents.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep.Fenced;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.ForwardingListStore;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests documents that are migrated to another server and back. */
class DocumentMoveTest {
    private static final RedirectTarget THERE = RedirectTarget.parse("other:6380 http://other:4437");

    @AutoClose
    private final Documents documents = new Documents();

    private Fenced fence(String name, long holder) {
        return fence(name, holder, THERE);
    }

    private Fenced fence(String name, long holder, RedirectTarget to) {
        MoveStep step = new MoveStep(MoveStep.Kind.FENCE, OptionalLong.of(holder), to);
        return (Fenced) documents.<Object>change(name, step::applyTo);
    }

    private Object redirect(String name, long holder) {
        return documents.change(name, new MoveStep(MoveStep.Kind.REDIRECT, OptionalLong.of(holder), null)::applyTo);
    }

    /** Imports a document with the value x, and returns the next sequence of the document. */
    private long importDocument(Replaced replaced) {
        return documents.<Long>importStep("a", Kind.WHOLE, replaced, DocumentAttributes.NONE, values("x"), 3L);
    }

    private boolean abandon(OptionalLong holder) {
        return abandon("a", holder);
    }

    private boolean abandon(String name, OptionalLong holder) {
        return (Boolean) documents.change(name, new MoveStep(MoveStep.Kind.ABANDON, holder, null)::applyTo);
    }

    private boolean forget() {
        return (Boolean) documents.change("a", new MoveStep(MoveStep.Kind.FORGET, OptionalLong.empty(), null)::applyTo);
    }

    private List<Consumer<EditedDocument>> changes() {
        return List.of(
                document -> document.append(values("c")),
                document -> document.trimTo(1),
                EditedDocument::delete,
                EditedDocument::deleteUnnoted,
                document -> document.attributes(document.info().attributes().with(CLOSED, PRESENT)),
                document -> document.attributes(document.info().attributes().withTtlSeconds(9)),
                document -> importStep(Kind.WHOLE, List.of(0L)).applyTo(document),
                document -> importStep(Kind.BEGIN, List.of(0L)).applyTo(document),
                document -> importStep(Kind.CONTINUE, List.of(document.info().id(), 2L, 0L))
                        .applyTo(document));
    }

    private static ImportStep importStep(Kind kind, List<Long> numbers) {
        return new ImportStep(
                kind,
                numbers,
                Replaced.ANYTHING,
                DocumentAttributes.NONE,
                kind == Kind.CONTINUE ? values("c") : List.of());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fencedDocumentRejectsAllWrites(boolean restarted) {
        documents.push("a", "1", "2");
        assertThat(fence("a", 7).next()).isEqualTo(2);
        if (restarted) {
            documents.reopen();
        }
        for (Consumer<EditedDocument> each : changes()) {
            rejected(Reason.MOVING, () -> documents.edit("a", each));
            rejected(Reason.MOVING, () -> documents.editLocal("a", each));
        }
        rejected(Reason.MOVING, () -> documents.push("a", "c"));
        assertThat(documents.read("a")).containsExactly("1", "2");
        assertThat(abandon(OptionalLong.empty())).isTrue();
        assertThat(documents.push("a", "3")).isEqualTo(2);
    }

    @Test
    void rejectsEntireTransactionOnFencedDocument() {
        documents.push("a", "1");
        documents.push("b", "1");
        fence("a", 7);
        rejected(
                Reason.MOVING,
                () -> documents.change(List.of(name("a"), name("b")), edits -> {
                    edits.document(name("b")).append(values("2"));
                    return edits.document(name("a")).append(values("2"));
                }));
        assertThat(documents.read("b")).containsExactly("1");
    }

    /** A fence must allow a repeated append and an archive mark, because neither changes the document. */
    @Test
    void fenceAllowsRepeatedAppendAndArchiveMark() {
        documents.create("a", "text/plain");
        AppendRequest append = new AppendRequest(
                name("a"), values("x"), false, "text/plain", null, new Producer("p", 0, 0), OptionalLong.empty());
        documents.add(append);
        fence("a", 7);
        assertThat(documents.add(append).repeated()).isTrue();
        assertThat(documents.mark("a", documents.found("a").id(), ArchiveMark.first(5)))
                .isTrue();
        assertThat(documents.found("a").attributes().archived()).isEqualTo(ArchiveMark.first(5));
    }

    @Test
    void fencedDocumentDoesNotExpire() {
        OptionalLong soon = OptionalLong.of(documents.nowMillis() + 10);
        documents.create("a", Documents.expiring(OptionalLong.empty(), soon));
        documents.create("b", Documents.expiring(OptionalLong.of(1), OptionalLong.empty()));
        fence("a", 7);
        fence("b", 7);
        documents.pass(Duration.ofDays(1));
        assertThat(documents.read("a")).containsExactly("a");
        abandon("a", OptionalLong.of(7));
        assertThat(documents.find("a")).isNull();
        assertThat(documents.found("b").count()).isEqualTo(1);
        // Clients could not use the document while it was fenced.
        abandon("b", OptionalLong.of(7));
        assertThat(documents.found("b").count()).isEqualTo(1);
        documents.pass(Duration.ofSeconds(1));
        assertThat(documents.find("b")).isNull();
    }

    @Test
    void onlyLastRunOfMoveCanContinue() {
        documents.push("a", "1");
        fence("a", 7);
        RedirectTarget third = RedirectTarget.parse("third:1");
        rejected(Reason.MOVING, () -> fence("a", 8, third));
        fence("a", 8);
        assertThat(abandon(OptionalLong.of(7))).isFalse();
        rejected(Reason.CHANGED, () -> redirect("a", 7));
        assertThat(redirect("a", 8)).isEqualTo(THERE.text());
        rejected(Reason.MOVED, () -> fence("a", 9));
        rejected(Reason.NOT_FOUND, () -> fence("absent", 9));
    }

    @Test
    void redirectReplacesDocument() {
        documents.push("a", "1", "2");
        long id = fence("a", 7).id();
        redirect("a", 7);
        documents.reopen();
        assertThatThrownBy(() -> documents.find("a"))
                .isInstanceOfSatisfying(
                        MovedException.class, moved -> assertThat(moved.to()).isEqualTo(THERE))
                .hasMessage("document 'a' has been moved to other:6380 (http://other:4437)");
        rejected(Reason.MOVED, () -> documents.push("a", "3"));
        rejected(Reason.MOVED, () -> documents.delete("a"));
        rejected(Reason.MOVED, () -> documents.create("a", "text/plain"));
        assertThat(documents.service().peek(name("a"))).isNull();
        assertThat(documents.service().scan(0, 10).documents()).isEmpty();
        assertThat(documents.store().info(id)).isNull();
        rejected(Reason.SOURCE_NOT_FOUND, () -> documents.create("f", Documents.fork("a", OptionalLong.empty())));
        assertThat(abandon(OptionalLong.empty())).isFalse();
        assertThat(forget()).isTrue();
        assertThat(forget()).isFalse();
        assertThat(documents.push("a", "new")).isZero();
    }

    @Test
    void movedDocumentHasPendingDeletion() {
        documents.push("a", "1");
        documents.mark("a", documents.found("a").id(), new ArchiveMark(5, 1, 0, 1, 0, 0));
        fence("a", 7);
        redirect("a", 7);
        assertThat(documents.service().deletionPending(name("a"))).isTrue();
    }

    @Test
    void rejectsFenceOnDocumentWithForks() {
        documents.create("a", "text/plain", "1");
        CreateRequest fork = Documents.fork("a", OptionalLong.empty());
        documents.create("f", fork);
        rejected(Reason.HAS_FORKS, () -> fence("a", 7));
        fence("f", 7);
        redirect("f", 7);
        fence("a", 7);
        rejected(Reason.MOVING, () -> documents.create("g", fork));
    }

    @Test
    void returningDocumentReplacesRedirect() {
        documents.push("a", "1");
        fence("a", 7);
        redirect("a", 7);
        rejected(Reason.MOVED, () -> importDocument(Replaced.NOTHING));
        assertThat(importDocument(Replaced.REDIRECT)).isEqualTo(4);
        assertThat(documents.read("a")).containsExactly("x");
        rejected(Reason.EXISTS, () -> importDocument(Replaced.REDIRECT));
    }

    /** A redirect must stay until the document has returned completely, even if the document's import is aborted. */
    @ParameterizedTest
    @ValueSource(strings = {"abort", "restart", "end"})
    void redirectStaysUntilImportIsComplete(String how) {
        documents.push("a", "1");
        fence("a", 7);
        redirect("a", 7);
        DocumentAttributes expires = DocumentAttributes.NONE.withTtlSeconds(9);
        long id = documents.<Long>importStep("a", Kind.BEGIN, Replaced.REDIRECT, expires, List.of(), 3L);
        documents.importStep("a", Kind.ADD, values("x"), id, 3L);
        documents.pass(Duration.ofDays(1));
        documents.awaitSweep();
        rejected(Reason.MOVED, () -> documents.find("a"));
        rejected(Reason.MOVED, () -> documents.push("a", "3"));
        switch (how) {
            case "abort" -> documents.importStep("a", Kind.ABORT, List.of(), id);
            case "restart" -> documents.reopen();
            default -> documents.importStep("a", Kind.END, List.of(), id, 4L);
        }
        if (how.equals("end")) {
            assertThat(documents.read("a")).containsExactly("x");
        } else {
            rejected(Reason.MOVED, () -> documents.find("a"));
            assertThat(forget()).isTrue();
        }
    }

    /** Clients are no longer redirected once the document is here, so it must not lack values that the space drops. */
    @ParameterizedTest
    @ValueSource(strings = {"whole", "parts"})
    void rejectsReturningDocumentOfWhichSpaceWouldDropValues(String how) {
        documents.set("a", SpaceSetting.RETAINED_VALUES, 1);
        documents.push("a", "1");
        fence("a", 7);
        redirect("a", 7);
        if (how.equals("whole")) {
            rejected(
                    Reason.TOO_LARGE,
                    () -> documents.importStep(
                            "a", Kind.WHOLE, Replaced.REDIRECT, DocumentAttributes.NONE, values("x", "y"), 3L));
        } else {
            long id = begin(Replaced.REDIRECT);
            documents.importStep("a", Kind.ADD, values("x"), id, 3L);
            rejected(Reason.TOO_LARGE, () -> documents.importStep("a", Kind.ADD, values("y"), id, 4L));
            documents.importStep("a", Kind.ABORT, List.of(), id);
        }
        rejected(Reason.MOVED, () -> documents.find("a"));
        assertThat(forget()).isTrue();
    }

    @Test
    void documentReturnsEvenIfItsCopyTakesLongerThanValuesAreRetained() {
        documents.set("a", SpaceSetting.RETAINED_SECONDS, 10);
        documents.push("a", "1");
        fence("a", 7);
        redirect("a", 7);
        long id = begin(Replaced.REDIRECT);
        documents.importStep("a", Kind.ADD, values("x"), id, 3L);
        documents.pass(Duration.ofHours(1));
        documents.importStep("a", Kind.ADD, values("y"), id, 4L);
        documents.importStep("a", Kind.END, List.of(), id, 5L);
        assertThat(documents.read("a")).containsExactly("x", "y");
    }

    private long begin(Replaced replaced) {
        return documents.<Long>importStep("a", Kind.BEGIN, replaced, DocumentAttributes.NONE, List.of(), 3L);
    }

    @ParameterizedTest
    @EnumSource(Replaced.class)
    void abandonedImportIsDeleted(Replaced replaced) {
        if (replaced != Replaced.NOTHING) {
            documents.push("a", "1");
        }
        if (replaced == Replaced.REDIRECT) {
            fence("a", 7);
            redirect("a", 7);
        }
        long before = documents.service().documents();
        long id = begin(replaced);
        documents.awaitSweep();
        documents.pass(Duration.ofDays(2));
        documents.importStep("a", Kind.ADD, values("x"), id, 3L);
        documents.awaitSweep();
        documents.pass(Duration.ofDays(2));
        documents.importStep("a", Kind.ADD, values("y"), id, 4L);
        documents.awaitSweep();
        documents.pass(Duration.ofDays(2).plusSeconds(1));
        documents.awaitSweptTo(before);
        rejected(Reason.CHANGED, () -> documents.importStep("a", Kind.END, List.of(), id, 5L));
        switch (replaced) {
            case NOTHING -> assertThat(documents.find("a")).isNull();
            case REDIRECT -> rejected(Reason.MOVED, () -> documents.find("a"));
            case ANYTHING -> assertThat(documents.read("a")).containsExactly("1");
        }
    }

    /** A sweep may have listed the import before it ends, and check it afterwards. */
    @ParameterizedTest
    @EnumSource(names = {"ABORT", "END"})
    void endedImportLeavesNoTimeOfLastUse(Kind end) throws ReflectiveOperationException {
        long id = begin(Replaced.NOTHING);
        DocumentInfo listed = DocumentInfo.of(documents.service().catalog.peek(Documents.name("a")));
        documents.importStep("a", end, List.of(), end == Kind.END ? new Long[] {id, 3L} : new Long[] {id});
        assertThat(documents.service().expiry.abandoned(listed)).isFalse();
        Field lastUse = Expiry.class.getDeclaredField("lastUse");
        lastUse.setAccessible(true);
        assertThat((Map<?, ?>) lastUse.get(documents.service().expiry)).isEmpty();
    }

    /** The end of the earlier import must not replace the later document. */
    @Test
    void wholeImportDiscardsUnfinishedReplacement() {
        documents.push("a", "1");
        long id = begin(Replaced.ANYTHING);
        importDocument(Replaced.ANYTHING);
        assertThat(documents.service().documents()).isOne();
        rejected(Reason.CHANGED, () -> documents.importStep("a", Kind.END, List.of(), id, 3L));
        assertThat(documents.read("a")).containsExactly("x");
    }

    /** A reader may see the document as soon as the store has accepted the last step of the import. */
    @ParameterizedTest
    @EnumSource(names = {"NOTHING", "ANYTHING"})
    void importedDocumentIsInUseBeforeItIsVisible(Replaced replaced) {
        AtomicReference<Runnable> onWrite = new AtomicReference<>(() -> {});
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void write(WriteBatch batch, WriteCallback callback) {
                onWrite.get().run();
                super.write(batch, callback);
            }
        };
        DocumentAttributes expires = DocumentAttributes.NONE.withTtlSeconds(9);
        List<Boolean> expired = new ArrayList<>();
        try (Documents here = new Documents(store)) {
            if (replaced == Replaced.ANYTHING) {
                here.push("a", "1");
            }
            long id = here.<Long>importStep("a", Kind.BEGIN, replaced, expires, List.of(), 3L);
            here.pass(Duration.ofHours(1));
            onWrite.set(() -> expired.add(here.service().expiry.expired(new DocumentInfo(id, 0, 0, expires))));
            here.importStep("a", Kind.END, List.of(), id, 3L);
            onWrite.set(() -> {});
        }
        assertThat(expired).containsExactly(false);
    }

    /** A client may have given a document the name under which a replacement is imported. */
    @Test
    void importDoesNotTakeDocumentWithTemporaryName() {
        documents.push("a", "1");
        String temporary = documents.service().replacementName(name("a")).text();
        documents.push(temporary, "own");
        rejected(
                Reason.EXISTS,
                () -> documents.importStep("a", Kind.BEGIN, Replaced.ANYTHING, DocumentAttributes.NONE, List.of(), 0L));
        assertThat(documents.read(temporary)).containsExactly("own");
    }

    @Test
    void importedDocumentCanBeContinued() {
        DocumentAttributes expires = DocumentAttributes.NONE.withTtlSeconds(9);
        documents.importStep("a", Kind.WHOLE, Replaced.NOTHING, expires, values("x"), 3L);
        long id = documents.found("a").id();
        DocumentAttributes closed = DocumentAttributes.NONE.with(CLOSED, "p").withArchived(ArchiveMark.first(5));
        assertThat(resume(id, 4, closed, "y", "z")).isEqualTo(6);
        assertThat(documents.read("a")).containsExactly("y", "z");
        assertThat(documents.found("a").firstSequence()).isEqualTo(4);
        assertThat(documents.found("a").attributes().closed()).isTrue();
        assertThat(documents.found("a").attributes().expires()).isFalse();
        assertThat(documents.found("a").attributes().archived()).isNull();
        rejected(Reason.SEQUENCE_CONFLICT, () -> resume(id, 4, closed, "y"));
        rejected(Reason.CHANGED, () -> resume(id + 1, 6, closed));
        boolean anothers = documents.importStep("a", Kind.DELETE, List.of(), id + 1);
        assertThat(anothers).isFalse();
        boolean own = documents.importStep("a", Kind.DELETE, List.of(), id);
        assertThat(own).isTrue();
        assertThat(documents.find("a")).isNull();
    }

    private long resume(long id, long sequence, DocumentAttributes attributes, String... values) {
        return documents.<Long>importStep(
                "a", Kind.CONTINUE, Replaced.NOTHING, attributes, values(values), id, sequence, 4L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:1", "[::1]:6380", "http://a.b-c:80", "https://a:443", "a:1 http://a:2"})
    void preservesRedirectAddressText(String text) {
        assertThat(RedirectTarget.parse(text).text()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a",
                "http://a",
                "http://a:1/",
                "a:1 b:2",
                "http://u:p@a:1",
                "a:1\r\nb",
                "a:1  http://b:1"
            })
    void rejectsInvalidRedirectAddress(String text) {
        assertThatThrownBy(() -> RedirectTarget.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
