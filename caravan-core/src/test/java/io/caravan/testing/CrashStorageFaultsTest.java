package io.caravan.testing;

import static io.caravan.testing.CrashStorageTest.ones;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.format.FileNames;
import io.caravan.io.StoreFile;
import io.caravan.testing.CrashStorage.Call;
import io.caravan.testing.CrashStorage.Outcome;
import io.caravan.testing.FaultStorage.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests which calls a director decides on, and the effects of its decisions. */
class CrashStorageFaultsTest {
    private static final int SECTOR = CrashFile.SECTOR_BYTES;
    private static final int SEEDS = 300;

    private final CrashStorage storage = new CrashStorage(0);

    private static Call call(Kind kind, String file, long position, long bytes, String newName) {
        return new Call(kind, file, position, bytes, newName, false, false);
    }

    private static Call call(Kind kind, String file) {
        return call(kind, file, 0, 0, "");
    }

    private static void assertFails(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IOException.class).hasMessageContaining("made to fail");
    }

    private static void assertNoSpace(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IOException.class).hasMessageContaining("No space left on device");
    }

    /** Makes every kind of call, on a file that is renamed from a to b. */
    private static void useEveryCall(CrashStorage storage) throws IOException {
        StoreFile file = storage.create("a", 100);
        file.write(ones(10), 95);
        file.read(ByteBuffer.allocate(7), 5);
        file.force();
        file.map();
        file.write(ones(2), 0);
        storage.rename("a", "b");
        file.close();
        file.close();
        storage.open("b").close();
        storage.forceDirectory();
        storage.delete("b");
        storage.close();
    }

    @Test
    void directorIsConsultedBeforeEachCall() throws IOException {
        List<Call> calls = new ArrayList<>();
        storage.director(call -> {
            calls.add(call);
            return Outcome.PASS;
        });
        useEveryCall(storage);
        assertThat(calls)
                .containsExactly(
                        new Call(Kind.CREATE, "a", 0, 100, "", false, true),
                        new Call(Kind.CREATE, "a", 0, 100, "", true, true),
                        new Call(Kind.WRITE, "a", 95, 10, "", false, true),
                        call(Kind.READ, "a", 5, 7, ""),
                        call(Kind.FORCE, "a"),
                        call(Kind.MAP, "a"),
                        call(Kind.WRITE, "a", 0, 2, ""),
                        call(Kind.RENAME, "a", 0, 0, "b"),
                        call(Kind.CLOSE, "a"),
                        call(Kind.OPEN, "b"),
                        call(Kind.CLOSE, "b"),
                        call(Kind.FORCE_DIRECTORY, ""),
                        call(Kind.DELETE, "b"));
    }

    @Test
    void directorRunsOnCallerThreadAndCanUseStorage() throws IOException {
        Thread caller = Thread.currentThread();
        AtomicBoolean insideDirector = new AtomicBoolean();
        SplittableRandom choices = new SplittableRandom(1);
        storage.director(call -> {
            assertThat(Thread.currentThread()).isSameAs(caller);
            assertThat(Thread.holdsLock(storage)).isFalse();
            if (insideDirector.compareAndSet(false, true)) {
                storage.powerCut(choices);
                storage.writeBack(choices);
                storage.processKill();
                createAndDelete("other");
                insideDirector.set(false);
            }
            return Outcome.PASS;
        });
        useEveryCall(storage);
        assertThat(storage.list()).isEmpty();
    }

    private void createAndDelete(String name) {
        try {
            storage.create(name, 1).close();
            storage.delete(name);
        } catch (IOException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void fileIsHalfCreatedAtSecondDirectorCall() throws IOException {
        Set<Integer> sizes = new HashSet<>();
        storage.director(call -> {
            assertThat(storage.list().contains("a")).isEqualTo(call.halfMade());
            if (call.halfMade()) {
                assertThat(storage.visible("a")).hasSizeLessThan(5000).containsOnly(0);
                assertThat(storage.processKill().size("a")).isEqualTo(storage.size("a"));
                for (int seed = 0; seed < SEEDS; seed++) {
                    CrashStorage cut = storage.powerCut(new SplittableRandom(seed));
                    sizes.add(cut.list().isEmpty() ? -1 : cut.size("a"));
                }
            }
            return Outcome.PASS;
        });
        assertThat(storage.create("a", 5000).size()).isEqualTo(5000);
        assertThat(sizes).contains(-1, 0, 2500).hasSizeGreaterThan(20).allMatch(size -> size < 5000);
    }

    @Test
    void exceptionFromDirectorAbortsCall() throws IOException {
        storage.director(call -> {
            throw new IllegalStateException("killed");
        });
        assertThatThrownBy(() -> storage.create("a", 1)).hasMessage("killed");
        assertThat(storage.list()).isEmpty();
    }

    @Test
    void failedCallHasNoEffect() throws IOException {
        StoreFile file = storage.create("a", 100);
        file.write(ones(1), 0);
        byte[] visible = storage.visible("a");
        byte[] durable = storage.durable("a");
        for (Outcome outcome : new Outcome[] {Outcome.FAIL, Outcome.NO_SPACE}) {
            storage.director(call -> outcome);
            for (ThrowingCallable call : calls(file)) {
                assertThatThrownBy(call).isInstanceOf(IOException.class);
            }
            assertThat(storage.list()).containsExactly("a");
            assertThat(storage.visible("a")).isEqualTo(visible);
            assertThat(storage.durable("a")).isEqualTo(durable);
        }
        assertNamesAreNotFsynced();
        storage.director(call -> Outcome.PASS);
        file.force();
        assertThat(storage.durable("a")).isEqualTo(visible);
    }

    private List<ThrowingCallable> calls(StoreFile file) {
        return List.of(
                () -> storage.create("b", 1),
                () -> storage.open("a"),
                () -> file.read(ByteBuffer.allocate(1), 0),
                () -> file.write(ones(5), 7),
                file::force,
                file::map,
                () -> storage.rename("a", "b"),
                () -> storage.delete("a"),
                storage::forceDirectory,
                file::close);
    }

    private void assertNamesAreNotFsynced() {
        Set<List<String>> outcomes = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            outcomes.add(storage.powerCut(new SplittableRandom(seed)).list());
        }
        assertThat(outcomes).containsExactlyInAnyOrder(List.of(), List.of("a"));
    }

    @Test
    void writeFailingHalfwayWritesPrefix() throws IOException {
        BitSet written = new BitSet();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage one = new CrashStorage(seed);
            StoreFile file = one.create("a", 10);
            one.director(call -> Outcome.FAIL_HALFWAY);
            ByteBuffer source = ones(8);
            assertFails(() -> file.write(source, 6));
            assertThat(source.limit()).isEqualTo(8);
            byte[] expected = new byte[Math.max(10, 6 + source.position())];
            Arrays.fill(expected, 6, 6 + source.position(), (byte) 1);
            assertThat(one.visible("a")).isEqualTo(expected);
            written.set(source.position());
        }
        assertThat(written.cardinality()).isEqualTo(8);
        assertThat(written.get(8)).isFalse();
    }

    @Test
    void halfwayFailuresDifferAndAreReproducibleBySeed() throws IOException {
        List<Integer> prefixes = prefixes(new CrashStorage(7));
        assertThat(new HashSet<>(prefixes)).hasSizeGreaterThan(2);
        assertThat(prefixes(new CrashStorage(7))).isEqualTo(prefixes);
        assertThat(prefixes(new CrashStorage(7).processKill())).isEqualTo(prefixes);
    }

    /** Makes several writes that fail halfway, and returns the number of bytes that each of them has written. */
    private static List<Integer> prefixes(CrashStorage storage) throws IOException {
        StoreFile file = storage.create("a", 100);
        storage.director(call -> Outcome.FAIL_HALFWAY);
        List<Integer> prefixes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ByteBuffer source = ones(100);
            assertFails(() -> file.write(source, 0));
            prefixes.add(source.position());
        }
        return prefixes;
    }

    @Test
    void otherCallsFailingHalfwayHaveNoEffect() throws IOException {
        StoreFile file = storage.create("a", 10);
        storage.director(call -> Outcome.FAIL_HALFWAY);
        assertFails(() -> storage.create("b", 1));
        assertFails(() -> storage.rename("a", "b"));
        assertFails(() -> storage.delete("a"));
        assertFails(storage::forceDirectory);
        assertFails(() -> file.write(ones(0), 0));
        assertThat(storage.list()).containsExactly("a");
    }

    @Test
    void creationFailingHalfwayLeavesNoFile() throws IOException {
        for (Outcome outcome : new Outcome[] {Outcome.FAIL, Outcome.FAIL_HALFWAY, Outcome.NO_SPACE}) {
            storage.director(Directors.on(Call::halfMade, outcome));
            assertThatThrownBy(() -> storage.create("a", 100)).isInstanceOf(IOException.class);
            assertThat(storage.list()).isEmpty();
        }
        assertNamesAreNotFsynced();
    }

    @Test
    void nthMatchingCallFails() throws IOException {
        storage.director(Directors.nth(2, Directors.calls(Kind.CREATE, "[ab]"), Outcome.FAIL));
        storage.create("a", 1);
        storage.create("c", 1);
        assertFails(() -> storage.create("b", 1));
        storage.create("b", 1);
        assertThat(storage.list()).containsExactly("a", "c", "b");
    }

    @Test
    void fullDiskRejectsGrowthUntilSpaceIsFreed() throws IOException {
        AtomicBoolean full = new AtomicBoolean(true);
        storage.director(Directors.fullFromCreate(2, full::get));
        StoreFile file = storage.create("a", 10);
        file.write(ones(20), 0);
        assertNoSpace(() -> storage.create("b", 1));
        assertNoSpace(() -> storage.create("b", 1));
        assertNoSpace(() -> file.write(ones(1), 20));
        file.write(ones(20), 0);
        storage.rename("a", "c");
        assertThat(storage.list()).containsExactly("c");
        full.set(false);
        file.write(ones(1), 20);
        storage.create("b", 1);
    }

    @Test
    void heapSegmentAllocatesSpaceWhenWritten() throws IOException {
        String name = FileNames.HEAP.of(0);
        StoreFile segment = storage.create(name, 100);
        StoreFile other = storage.create("a", 100);
        storage.director(Directors.on(Call::grows, Outcome.NO_SPACE));
        assertNoSpace(() -> segment.write(ones(5), 7));
        other.write(ones(5), 7);
        assertThat(storage.visible(name)).containsOnly(0);
        storage.director(call -> Outcome.PASS);
        segment.write(ones(5), 7);
        assertThat(Arrays.copyOfRange(storage.visible(name), 7, 12)).containsOnly(1);
    }
}
