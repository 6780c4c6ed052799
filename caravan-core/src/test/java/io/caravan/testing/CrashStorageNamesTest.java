package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests that a prefix of the creations, renames, and deletions since the last fsync survives a power cut. */
class CrashStorageNamesTest {
    private static final int SEEDS = 500;

    private final CrashStorage storage = new CrashStorage(0);

    /** Creates a file whose first byte is this number. The bytes are fsynced, but the name is not. */
    private StoreFile create(String name, int which) throws IOException {
        StoreFile file = storage.create(name, 600);
        write(file, which);
        file.force();
        return file;
    }

    private static void write(StoreFile file, int which) throws IOException {
        file.write(ByteBuffer.wrap(new byte[] {(byte) which}), 0);
    }

    /** Returns the directories after power cuts: "a1 b2" stands for file a with number 1 and file b with number 2. */
    private String[] outcomes() {
        Map<String, Integer> outcomes = new TreeMap<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage cut = storage.powerCut(new SplittableRandom(seed));
            if (!cut.survived().contains("garbled")) {
                outcomes.merge(describe(cut), 1, Integer::sum);
            }
        }
        return outcomes.keySet().toArray(new String[0]);
    }

    private static String describe(CrashStorage storage) {
        StringBuilder files = new StringBuilder();
        for (String name : storage.list().stream().sorted().toList()) {
            files.append(name).append(storage.visible(name)[0]).append(' ');
        }
        return files.toString().trim();
    }

    @Test
    void powerCutUndoesSuffixOfChangesSinceLastFsync() throws IOException {
        create("a", 1);
        create("b", 2);
        storage.forceDirectory();
        create("c", 3);
        storage.rename("a", "d");
        storage.delete("b");
        storage.rename("c", "a");
        assertThat(outcomes()).containsExactlyInAnyOrder("a1 b2", "a1 b2 c3", "b2 c3 d1", "c3 d1", "a3 d1");
    }

    @Test
    void directoryFsyncMakesNamesDurable() throws IOException {
        create("a", 1);
        storage.rename("a", "b");
        create("c", 2);
        storage.delete("c");
        storage.forceDirectory();
        assertThat(outcomes()).containsExactly("b1");
    }

    @Test
    void fileFsyncDoesNotMakeNameDurable() throws IOException {
        create("a", 1);
        assertThat(outcomes()).containsExactlyInAnyOrder("", "a1");
    }

    @Test
    void powerCutCanRestoreDeletedFileWithSurvivingBytes() throws IOException {
        StoreFile file = create("a", 1);
        storage.forceDirectory();
        write(file, 2);
        storage.delete("a");
        assertThat(outcomes()).containsExactlyInAnyOrder("", "a1", "a2");
        file.force();
        assertThat(outcomes()).containsExactlyInAnyOrder("", "a2");
    }

    @Test
    void renamedFileHasSurvivingBytesUnderEitherName() throws IOException {
        StoreFile file = create("a", 1);
        storage.forceDirectory();
        storage.rename("a", "b");
        write(file, 2);
        assertThat(outcomes()).containsExactlyInAnyOrder("a1", "a2", "b1", "b2");
    }

    @Test
    void renameReplacesTargetAtomically() throws IOException {
        create("a", 1);
        create("b", 2);
        storage.forceDirectory();
        storage.rename("a", "b");
        assertThat(outcomes()).containsExactlyInAnyOrder("a1 b2", "b1");
    }

    @Test
    void powerCutCanUndoCreationThatReplacesFile() throws IOException {
        create("a", 1);
        storage.forceDirectory();
        create("a", 2);
        assertThat(outcomes()).containsExactlyInAnyOrder("a1", "a2");
    }

    @Test
    void directoryFsyncDoesNotMakeBytesDurable() throws IOException {
        StoreFile file = storage.create("a", 600);
        write(file, 1);
        storage.forceDirectory();
        assertThat(outcomes()).containsExactlyInAnyOrder("a0", "a1");
    }

    @Test
    void changesAfterPowerCutStartFromSurvivingState() throws IOException {
        create("a", 1);
        create("b", 2);
        storage.forceDirectory();
        storage.delete("a");
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage cut = storage.powerCut(new SplittableRandom(seed));
            String left = describe(cut);
            cut.create("c", 10);
            CrashStorage again = cut.powerCut(new SplittableRandom(seed + 1));
            assertThat(describe(again)).isIn(left, left + " c0");
            assertThat(storage.list()).containsExactly("b");
        }
    }
}
