package io.caravan.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexComparisonTest {
    private static ListIndex index(long... ids) {
        ListIndex index = new ListIndex();
        for (long id : ids) {
            index.append(index.create(id, 4144, 0), Region.pack(4096, 5), 4144);
        }
        return index;
    }

    @Test
    void reportsNoDifferenceForEqualIndexes() {
        assertThat(Verifier.firstDifference(index(1, Long.MIN_VALUE), index(Long.MIN_VALUE, 1)))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 7, Long.MAX_VALUE})
    void reportsDifferingListWithAnyId(long id) {
        ListIndex longer = index(id, 3);
        longer.append(longer.find(id), Region.pack(8192, 5), 4200);
        assertThat(Verifier.firstDifference(index(3, id), longer)).isEqualTo(id);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 7, Long.MAX_VALUE})
    void reportsListMissingFromEitherIndex(long id) {
        assertThat(Verifier.firstDifference(index(3, id), index(3))).isEqualTo(id);
        assertThat(Verifier.firstDifference(index(3), index(3, id))).isEqualTo(id);
    }
}
