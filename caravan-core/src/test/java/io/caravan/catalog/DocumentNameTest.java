package io.caravan.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DocumentNameTest {
    /**
     * Checks that the hashes of names differ if a word is nearly negated and the change of its hash is undone by the
     * next word.
     */
    @Test
    void hashesOfChosenNamesDiffer() {
        int words = DocumentName.MAX_BYTES / Long.BYTES;
        Set<Integer> hashes = new HashSet<>();
        for (int negated = 0; negated < words - 1; negated++) {
            ByteBuffer name = ByteBuffer.allocate(DocumentName.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < words; i++) {
                name.putLong(i * Long.BYTES, 0x6f6e656f6e656f6eL + i);
            }
            name.putLong(negated * Long.BYTES, ~1L ^ name.getLong(negated * Long.BYTES));
            int next = (negated + 1) * Long.BYTES;
            name.putLong(next, 1 ^ name.getLong(next));
            hashes.add(DocumentName.hash(name.array()));
        }
        assertThat(hashes).hasSizeGreaterThan(words - 5);
    }
}
