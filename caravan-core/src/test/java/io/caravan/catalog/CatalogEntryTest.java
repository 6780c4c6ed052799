package io.caravan.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CorruptStoreException;
import io.caravan.StoreVersionException;
import io.caravan.fuzz.MemoryUse;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class CatalogEntryTest {
    private static final CatalogEntry ENTRY = new CatalogEntry(
            CatalogEntry.Kind.WITH_LIST, 0x0102, 0x0304, DocumentName.of("ab"), Attributes.EMPTY.with("k", new byte[] {9
            }));

    private static CatalogEntry decode(byte[] bytes) {
        return CatalogEntry.decode(ByteBuffer.wrap(bytes).asReadOnlyBuffer(), 0, 7);
    }

    @Test
    void encodingMatchesDocumentedLayout() {
        assertThat(HexFormat.of().formatHex(ENTRY.encode()))
                .isEqualTo("01" + "02" + "0200" + "0201000000000000" + "0403000000000000" + "6162" + "016b010009");
    }

    @Test
    void decodesEncodedEntry() {
        CatalogEntry read = decode(ENTRY.encode());
        assertThat(read).usingRecursiveComparison().isEqualTo(ENTRY);
    }

    @Test
    void rejectsNewerVersion() {
        byte[] newer = ENTRY.encode();
        newer[CatalogEntry.VERSION] = 2;
        assertThatExceptionOfType(StoreVersionException.class)
                .isThrownBy(() -> decode(newer))
                .withMessageContaining("format version 2");
    }

    @Test
    void reportsSequenceOfTruncatedEntry() {
        byte[] complete = ENTRY.encode();
        for (int length = 0; length < complete.length; length++) {
            byte[] cut = Arrays.copyOf(complete, length);
            if (length == CatalogEntry.NAME + 2) {
                assertThat(decode(cut).attributes()).isSameAs(Attributes.EMPTY);
                continue;
            }
            assertThatExceptionOfType(CorruptStoreException.class)
                    .as("cut at %d", length)
                    .isThrownBy(() -> decode(cut))
                    .withMessageContaining("sequence 7");
        }
    }

    @Test
    void decodeIfValidReturnsNullForInvalidEntry() {
        assertThat(CatalogEntry.decodeIfValid(ByteBuffer.allocate(0))).isNull();
        assertThat(CatalogEntry.decodeIfValid(ByteBuffer.allocate(100))).isNull();
        assertThat(CatalogEntry.decodeIfValid(ByteBuffer.wrap(ENTRY.encode()))).isEqualTo(ENTRY);
    }

    @Test
    void rejectsUnknownKindAndImpossibleIds() {
        byte[] kind = ENTRY.encode();
        kind[CatalogEntry.KIND] = 4;
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(() -> decode(kind))
                .withMessageContaining("unknown kind 4");
        byte[] id = ENTRY.encode();
        id[CatalogEntry.ID + 1] = 3;
        id[CatalogEntry.ID] = 4;
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(() -> decode(id))
                .withMessageContaining("next id 772");
    }

    /** Checks that attributes over the limit of 16 KiB are rejected before they are copied. */
    @Test
    void rejectsOversizedAttributesBeforeCopying() throws Exception {
        byte[] huge = Arrays.copyOf(ENTRY.encode(), 8 << 20);
        MemoryUse.within(
                64 << 10,
                () -> assertThatExceptionOfType(CorruptStoreException.class)
                        .isThrownBy(() -> decode(huge))
                        .withMessageContaining("over the limit"));
    }
}
