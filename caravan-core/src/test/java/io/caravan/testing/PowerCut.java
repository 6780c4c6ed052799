package io.caravan.testing;

import io.caravan.format.FileNames;
import io.caravan.testing.CrashDirectory.Change;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Simulates one power cut of a {@link CrashStorage}: chooses and describes the contents of the disk afterward. */
final class PowerCut {
    private static final int CUTS_PER_COMMON_PATTERN = 3;
    private static final int FILES_PER_TEAR = 4;
    private static final int CUTS_PER_GARBLED_BLOCK = 4;

    private final RandomGenerator choices;
    private final Map<String, CrashFile> names;
    private final List<Change> undone;
    private final List<FileCut> fileCuts = new ArrayList<>();
    private final @Nullable KeptSectors commonPattern;
    private @Nullable CrashFile garbledFile;
    private int garbledBlock;

    PowerCut(CrashDirectory directory, RandomGenerator choices) {
        this.choices = choices;
        List<Change> changes = directory.changes();
        int made = choices.nextInt(changes.size() + 1);
        this.names = directory.namesAfter(made);
        this.undone = List.copyOf(changes.subList(made, changes.size()));
        this.commonPattern = choices.nextInt(CUTS_PER_COMMON_PATTERN) == 0 ? KeptSectors.any(choices) : null;
        if (choices.nextInt(CUTS_PER_GARBLED_BLOCK) == 0) {
            chooseGarbledBlock();
        }
        names.replaceAll(this::cut);
    }

    private void chooseGarbledBlock() {
        int seen = 0;
        for (Map.Entry<String, CrashFile> named : names.entrySet()) {
            CrashFile file = named.getValue();
            // This file is never fsynced, so it would displace more important ones in most cuts.
            BitSet blocks = named.getKey().equals(FileNames.FORCED_LSN) ? new BitSet() : file.writtenBlocks();
            for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
                if (choices.nextInt(++seen) == 0) {
                    garbledFile = file;
                    garbledBlock = block;
                }
            }
        }
    }

    private CrashFile cut(String name, CrashFile file) {
        int[] sectors = file.unforcedSectors();
        if (sectors.length == 0 && file != garbledFile) {
            return file.sharingDurable();
        }
        KeptSectors pattern = commonPattern != null ? commonPattern : KeptSectors.any(choices);
        boolean tears = choices.nextInt(FILES_PER_TEAR) == 0;
        FileCut cut = FileCut.of(name, file, sectors, pattern, tears, choices);
        if (file == garbledFile) {
            cut.garble(garbledBlock, choices);
        }
        fileCuts.add(cut);
        return cut.file();
    }

    /** Returns the directory that the power cut leaves. */
    CrashDirectory remains() {
        return new CrashDirectory(names);
    }

    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        fileCuts.forEach(cut -> words.add(cut.toString()));
        undone.forEach(change -> words.add("undone: " + change));
        return words.isEmpty() ? "everything was on the disk" : String.join("; ", words);
    }
}
