package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the behavior that every {@link ObjectStore} must have. A subclass opens the object store to test. */
@LongTimeout
abstract class ObjectStoreContract {
    private static final int LARGE_BYTES = 20 << 20;
    private static final int MAX_BYTES = 64 << 20;
    private static final int WRITERS = 8;
    private static final long DAY_MILLIS = 24 * 60 * 60 * 1000L;

    private final List<ObjectStore> opened = new ArrayList<>();
    private ObjectStore store;

    /** Opens the object store to be tested. The store is empty at the first call. */
    abstract ObjectStore openPlace() throws Exception;

    /** Checks that the object store contains no incomplete objects or other leftovers without a key. */
    abstract void assertNothingHalfDone() throws Exception;

    /** Puts an object at each key, in the fastest way that the store allows. */
    void fill(List<String> keys) throws Exception {
        keys.parallelStream().forEach(key -> put(key, bytes("x")));
    }

    private ObjectStore another() throws Exception {
        ObjectStore another = openPlace();
        opened.add(another);
        return another;
    }

    @BeforeEach
    void openStore() throws Exception {
        store = another();
    }

    @AfterEach
    void closeStores() throws Exception {
        assertNothingHalfDone();
        opened.forEach(ObjectStore::close);
    }

    @Test
    void missingObjectIsNotFound() {
        assertThat(store.get("manifests/a", MAX_BYTES)).isNull();
        assertKind(
                Kind.NOT_FOUND, "manifests/a", () -> store.open("manifests/a").close());
        assertThat(listed("")).isEmpty();
        store.delete("manifests/a");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 300_000, 8 << 20, LARGE_BYTES, LARGE_BYTES + 1})
    void readsBackPutObject(int bytes) throws Exception {
        byte[] content = content(bytes);
        put("snapshots/a/1", content);
        assertThat(store.get("snapshots/a/1", MAX_BYTES).content()).isEqualTo(content);
        try (InputStream in = another().open("snapshots/a/1")) {
            assertThat(in.readAllBytes()).isEqualTo(content);
        }
        assertThat(listed(""))
                .singleElement()
                .satisfies(one -> assertThat(one.bytes()).isEqualTo(bytes));
    }

    @Test
    void acceptsContentByteByByte() {
        byte[] content = content(70_000);
        store.put("a", out -> {
            for (byte one : content) {
                out.write(one);
            }
        });
        assertThat(store.get("a", MAX_BYTES).content()).isEqualTo(content);
    }

    @Test
    void acceptsAllKeyCharacters() {
        String key = "AZaz09!2e/-_./..a/!!/.hidden";
        put(key, bytes("content"));
        assertThat(keys("")).containsExactly(key);
        assertThat(text(key)).isEqualTo("content");
    }

    @Test
    void keysAreCaseSensitive() {
        put("Name/a", bytes("large"));
        put("name/a", bytes("small"));
        assertThat(text("Name/a")).isEqualTo("large");
        assertThat(text("name/a")).isEqualTo("small");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/a",
                "a/",
                "a//b",
                ".",
                "..",
                "a/..",
                "../a",
                "a/../../b",
                "a/./b",
                "a b",
                "a\\b",
                "a\0",
                "ä",
                "~tmp/a",
                "a:b",
                "a*"
            })
    void rejectsInvalidKeys(String key) {
        assertRejected(() -> store.get(key, MAX_BYTES));
        assertRejected(() -> store.open(key));
        assertRejected(() -> put(key, bytes("x")));
        assertRejected(() -> store.putIf(key, bytes("x"), null));
        assertRejected(() -> store.delete(key));
        assertRejected(() -> store.deleteIf(key, "tag"));
        assertThat(listed("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "/", "../", "a/../", "a//", "ä/"})
    void rejectsInvalidListPrefixes(String directory) {
        assertRejected(() -> listed(directory));
    }

    @Test
    void putReplacesContentAndTag() {
        put("a", bytes("old"));
        String old = store.get("a", MAX_BYTES).tag();
        put("a", bytes("newer"));
        assertThat(text("a")).isEqualTo("newer");
        assertThat(store.get("a", MAX_BYTES).tag()).isNotEqualTo(old);
    }

    @Test
    void openReaderKeepsContentAfterReplacement() throws Exception {
        byte[] old = content(100_000);
        put("a", old);
        try (InputStream in = store.open("a")) {
            int first = in.read();
            put("a", bytes("new"));
            assertThat(first).isEqualTo(old[0] & 0xff);
            assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(old, 1, old.length));
        }
        assertThat(text("a")).isEqualTo("new");
    }

    @Test
    void streamCanBeClosedEarly() throws Exception {
        put("a", content(LARGE_BYTES));
        for (int time = 0; time < 3; time++) {
            try (InputStream in = store.open("a")) {
                assertThat(in.readNBytes(10)).hasSize(10);
            }
        }
        put("b", bytes("still works"));
        assertThat(text("b")).isEqualTo("still works");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1000, LARGE_BYTES})
    void failedPutKeepsPreviousObject(int bytes) {
        put("a", bytes("old"));
        IOException broken = new IOException("broken");
        assertThatThrownBy(() -> store.put("a", out -> {
                    out.write(content(bytes));
                    throw broken;
                }))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining(store.location())
                .hasCause(broken);
        assertThat(text("a")).isEqualTo("old");
        assertThat(keys("")).containsExactly("a");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1000, LARGE_BYTES})
    void propagatesContentException(int bytes) {
        RuntimeException own = new UncheckedIOException(new IOException("own"));
        assertThatThrownBy(() -> store.put("a", out -> {
                    out.write(content(bytes));
                    throw own;
                }))
                .isSameAs(own);
        assertThat(store.get("a", MAX_BYTES)).isNull();
    }

    @Test
    void rejectsReadOfTooLargeObject() {
        put("a", content(1001));
        assertThat(store.get("a", 1001).content()).hasSize(1001);
        assertKind(Kind.CORRUPT, "a", () -> store.get("a", 1000));
    }

    @Test
    void putIfAbsentConflictsWithExistingObject() {
        String tag = store.putIf("a", bytes("first"), null);
        assertKind(Kind.CONFLICT, "a", () -> store.putIf("a", bytes("second"), null));
        Stored stored = store.get("a", MAX_BYTES);
        assertThat(new String(stored.content(), StandardCharsets.UTF_8)).isEqualTo("first");
        assertThat(stored.tag()).isEqualTo(tag);
    }

    @Test
    void putIfUnchangedConflictsAfterChange() throws Exception {
        String first = store.putIf("a", bytes("1"), null);
        String second = another().putIf("a", bytes("2"), first);
        assertThat(second).isNotEqualTo(first);
        assertKind(Kind.CONFLICT, "a", () -> store.putIf("a", bytes("3"), first));
        assertThat(text("a")).isEqualTo("2");
        assertThat(store.putIf("a", bytes("3"), second)).isNotEqualTo(second);
        assertThat(text("a")).isEqualTo("3");
    }

    @Test
    void putIfAcceptsTagOfUnconditionalPut() {
        put("a", bytes("1"));
        store.putIf("a", bytes("2"), store.get("a", MAX_BYTES).tag());
        assertThat(text("a")).isEqualTo("2");
    }

    @Test
    void putIfUnchangedConflictsAfterDeletion() {
        String tag = store.putIf("a", bytes("1"), null);
        store.delete("a");
        assertKind(Kind.CONFLICT, "a", () -> store.putIf("a", bytes("2"), tag));
        // Accepts both success and a conflict, because the object does not exist anymore.
        succeeds(() -> store.deleteIf("a", tag));
        assertThat(store.get("a", MAX_BYTES)).isNull();
        store.putIf("a", bytes("3"), null);
        assertThat(text("a")).isEqualTo("3");
    }

    @Test
    void deleteIfUnchangedConflictsAfterChange() {
        String first = store.putIf("a", bytes("1"), null);
        String second = store.putIf("a", bytes("2"), first);
        assertKind(Kind.CONFLICT, "a", () -> store.deleteIf("a", first));
        assertThat(text("a")).isEqualTo("2");
        store.deleteIf("a", second);
        assertThat(store.get("a", MAX_BYTES)).isNull();
    }

    @Test
    void deletesObjectsAndReusesTheirPrefix() {
        put("snapshots/a/1", bytes("1"));
        put("snapshots/a/2", bytes("2"));
        store.delete("snapshots/a/1");
        assertThat(keys("")).containsExactly("snapshots/a/2");
        store.delete("snapshots/a/2");
        assertThat(keys("")).isEmpty();
        put("snapshots/a/3", bytes("3"));
        assertThat(keys("")).containsExactly("snapshots/a/3");
    }

    @Test
    void oneOfConcurrentPutsIfAbsentSucceeds() throws Exception {
        ObjectStore other = another();
        List<Boolean> done = together(writer -> () -> {
            ObjectStore mine = writer % 2 == 0 ? store : other;
            return succeeds(() -> mine.putIf("a", bytes("writer " + writer), null));
        });
        assertThat(done).containsOnlyOnce(true);
        assertThat(text("a")).isEqualTo("writer " + done.indexOf(true));
    }

    @Test
    void concurrentConditionalPutsAreNotLost() throws Exception {
        ObjectStore other = another();
        store.putIf("a", bytes("0"), null);
        int each = 10;
        together(writer -> () -> {
            ObjectStore mine = writer % 2 == 0 ? store : other;
            for (int done = 0; done < each; ) {
                done += succeeds(() -> countOn(mine)) ? 1 : 0;
            }
            return true;
        });
        assertThat(text("a")).isEqualTo(Integer.toString(WRITERS * each));
    }

    private static void countOn(ObjectStore store) {
        Stored before = store.get("a", MAX_BYTES);
        int count = Integer.parseInt(new String(before.content(), StandardCharsets.UTF_8));
        store.putIf("a", bytes(Integer.toString(count + 1)), before.tag());
    }

    @Test
    void concurrentPutsLeaveOneCompleteObject() throws Exception {
        together(writer -> () -> {
            store.put("folder/a", out -> out.write(filled(200_000, writer)));
            store.delete("folder/b" + writer);
            return true;
        });
        byte[] content = store.get("folder/a", MAX_BYTES).content();
        assertThat(content).isEqualTo(filled(200_000, content[0]));
    }

    @Test
    void listsObjectsInKeyOrder() {
        List<String> keys = List.of(
                "a",
                "a!b/1",
                "a-b/1",
                "a.b",
                "a/!",
                "a/-/1",
                "a/0",
                "a/Z",
                "a/_",
                "a/a",
                "a0/1",
                "aa/1",
                "archive.json");
        List<String> inOrder = keys.stream().filter(key -> !key.equals("a")).toList();
        inOrder.stream()
                .sorted((one, other) -> other.hashCode() - one.hashCode())
                .forEach(key -> put(key, bytes(key)));
        assertThat(keys("")).containsExactlyElementsOf(inOrder);
        assertThat(keys("a/")).containsExactly("a/!", "a/-/1", "a/0", "a/Z", "a/_", "a/a");
        assertThat(keys("nothing/")).isEmpty();
    }

    @Test
    void listsSizeAndTime() {
        put("a", bytes("four"));
        Listed listed = listed("").get(0);
        assertThat(listed.bytes()).isEqualTo(4);
        long now = System.currentTimeMillis();
        assertThat(listed.modifiedMillis()).isBetween(now - DAY_MILLIS, now + DAY_MILLIS);
    }

    @Test
    void listsManyObjectsAndStopsOnRequest() throws Exception {
        int count = 1_203;
        fill(IntStream.range(0, count).mapToObj(ObjectStoreContract::key).toList());
        assertThat(keys("manifests/")).hasSize(count).isSorted();
        assertThat(store.list("manifests/").limit(3).map(Listed::key)).containsExactly(key(0), key(1), key(2));
    }

    private static String key(int number) {
        return "manifests/name" + (10_000 + number);
    }

    @Test
    void interruptedCallsFailAndLeaveStoreUsable() {
        put("a", bytes("old"));
        store.putIf("b", bytes("old"), null);
        List<ThrowingCallable> interrupted = List.of(
                () -> put("a", content(1000)),
                () -> store.putIf("b", bytes("new"), store.get("b", MAX_BYTES).tag()),
                () -> store.get("a", MAX_BYTES),
                () -> store.list("").count());
        for (ThrowingCallable call : interrupted) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(call).isInstanceOf(ObjectStoreException.class).hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
        put("a", bytes("new"));
        assertThat(text("a")).isEqualTo("new");
        assertThat(store.putIf("b", bytes("new"), store.get("b", MAX_BYTES).tag()))
                .isNotEmpty();
    }

    @Test
    void interruptedReadFails() throws IOException {
        put("a", content(LARGE_BYTES));
        try (InputStream in = store.open("a")) {
            assertThat(in.read()).isNotNegative();
            Thread.currentThread().interrupt();
            assertThatThrownBy(in::readAllBytes)
                    .isInstanceOfAny(ObjectStoreException.class, ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void reopenedStoreFindsPutObject() throws Exception {
        put("a", bytes("1"));
        store.close();
        assertThat(another().get("a", MAX_BYTES)).isNotNull();
    }

    private void put(String key, byte[] content) {
        store.put(key, out -> out.write(content));
    }

    private String text(String key) {
        return new String(store.get(key, MAX_BYTES).content(), StandardCharsets.UTF_8);
    }

    private List<String> keys(String prefix) {
        return listed(prefix).stream().map(Listed::key).toList();
    }

    private List<Listed> listed(String prefix) {
        return store.list(prefix).toList();
    }

    private static boolean succeeds(Runnable conditional) {
        try {
            conditional.run();
            return true;
        } catch (ObjectStoreException rejected) {
            assertThat(rejected.kind()).isEqualTo(Kind.CONFLICT);
            return false;
        }
    }

    private void assertKind(Kind kind, String key, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("'" + key + "'")
                .hasMessageContaining(store.location())
                .satisfies(thrown ->
                        assertThat(((ObjectStoreException) thrown).kind()).isEqualTo(kind));
    }

    private static void assertRejected(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class);
    }

    /** A task that each concurrent writer runs. */
    interface Writing {
        Callable<Boolean> of(int writer);
    }

    static List<Boolean> together(Writing writing) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            List<Callable<Boolean>> writers = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                writers.add(writing.of(writer));
            }
            List<Boolean> done = new ArrayList<>();
            for (Future<Boolean> one : threads.invokeAll(writers)) {
                done.add(one.get());
            }
            return done;
        } finally {
            threads.shutdownNow();
        }
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(content);
        return content;
    }

    private static byte[] filled(int bytes, int value) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) value);
        return content;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
