package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSchedule.Backlog;
import io.caravan.server.archive.push.ArchiveSchedule.Change;
import io.caravan.server.archive.push.ArchiveSchedule.Slot;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests the bounds on the ages of the unarchived changes in a slot. */
class ArchiveSlotTest {
    private static final long STARTED = 1_000;
    private static final long NOTHING = Long.MAX_VALUE;

    private final Slot slot = new Slot(STARTED);

    private static Change change(long lastMillis, long afterMillis) {
        return new Change(DocumentName.of("a"), null, lastMillis, afterMillis);
    }

    /**
     * Records a scan whose changes do not fit into the schedule, and returns the bounds on the ages of these changes.
     */
    private Backlog scan(long nowMillis, long nextMillis, Change... found) {
        Backlog rest = new Backlog();
        for (Change change : found) {
            slot.add(change, rest);
        }
        slot.scanned(nowMillis, nextMillis, rest);
        return rest;
    }

    private long oldest(long nowMillis, long... lastMillis) {
        Change[] found =
                LongStream.of(lastMillis).mapToObj(last -> change(last, 0)).toArray(Change[]::new);
        return scan(nowMillis, nowMillis, found).oldestMillis;
    }

    @Test
    void datesFirstChangesFromLastArchivingOrStart() {
        assertThat(oldest(1_100, 500, 700)).isEqualTo(500);
        Slot another = new Slot(STARTED);
        Backlog rest = new Backlog();
        another.add(change(0, 10), rest);
        assertThat(rest.oldestMillis).isEqualTo(STARTED);
        assertThat(rest.dueMillis).isEqualTo(STARTED + 10);
    }

    @Test
    void datesLaterChangesFromPreviousScan() {
        assertThat(oldest(1_100)).isEqualTo(NOTHING);
        assertThat(oldest(2_000, 500)).isEqualTo(1_100);
        assertThat(oldest(3_000, 500, 2_900)).isEqualTo(1_100);
        assertThat(oldest(4_000)).isEqualTo(NOTHING);
        assertThat(oldest(5_000, 4_500)).isEqualTo(4_500);
    }

    @Test
    void waitsForNextScanIfOverFifthOfTimeRemains() {
        Change archived = change(1_000, 500);
        assertThat(archived.mayWait(1_200, 1_399)).isTrue();
        assertThat(archived.mayWait(1_200, 1_400)).isFalse();
        assertThat(change(1_000, 100).mayWait(1_000, 1_080))
                .as("no change waits for the server's own interval")
                .isFalse();
        assertThat(change(0, Long.MAX_VALUE / 2).mayWait(1_000, 1_001))
                .as("never archived")
                .isFalse();
        assertThat(change(5_000, 1_000_000).mayWait(1_000, 1_001))
                .as("archived in the future")
                .isFalse();
    }

    @Test
    void reportsEarliestDeadline() {
        Backlog found = scan(1_100, 1_200, change(1_050, 10_000), change(1_060, 100), change(0, 2_000));
        assertThat(found.dueMillis).isEqualTo(1_160);
        assertThat(scan(1_200, 1_300, change(0, 300), change(200, 10_000)).dueMillis)
                .as("changes that are still there are due as before")
                .isEqualTo(1_160);
        scan(1_300, 1_400);
        scan(1_400, 1_500);
        assertThat(scan(1_500, 1_600, change(200, 10_000), change(300, 500)).dueMillis)
                .as("both were changed after the scan before")
                .isEqualTo(1_900);
    }

    @Test
    void datesPossiblyDelayedChangeFromLastArchiving() {
        scan(10_000, 11_000);
        Backlog found = scan(11_000, 12_000, change(4_000, 10_000));
        assertThat(found.oldestMillis).isEqualTo(4_000);
        assertThat(found.dueMillis).isEqualTo(14_000);
        scan(12_000, 13_000);
        found = scan(13_000, 14_000, change(4_000, 10_000));
        assertThat(found.oldestMillis)
                .as("it could not have waited any longer, so it was changed after the scan before")
                .isEqualTo(12_000);
        assertThat(found.dueMillis).isEqualTo(22_000);
    }
}
