package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.push.BacklogTracker.Change;
import io.caravan.server.archive.push.BacklogTracker.Place;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BacklogTrackerTest {
    private static final long STARTED = 1_000;
    private static final long NOTHING = Long.MAX_VALUE;

    private final BacklogTracker survey = new BacklogTracker(3, STARTED);

    private Place look(int slot, long nowMillis, long... lastArchivedMillis) {
        List<Change> found = LongStream.of(lastArchivedMillis)
                .mapToObj(last -> new Change(last, 0))
                .toList();
        return survey.visited(slot, nowMillis, nowMillis, survey.unverified(slot), found);
    }

    private Place lookUntil(long nextMillis, long nowMillis, Change... found) {
        return survey.visited(0, nowMillis, nextMillis, false, List.of(found));
    }

    @Test
    void theBacklogIsWhatWasFoundLessWhatWasDone() {
        assertThat(survey.oldestMillis()).isEqualTo(NOTHING);
        Place place = look(0, 1_100, 500, 700);
        look(1, 1_100, 600);
        assertThat(survey.backlog()).isEqualTo(3);
        survey.done(place);
        survey.done(place);
        assertThat(survey.backlog()).isOne();
    }

    @Test
    void whatALaterLookHasCountedIsNotTakenOffForAnEarlierOne() {
        Place first = look(0, 1_100, 500);
        Place second = look(0, 1_200, 500);
        survey.done(first);
        assertThat(survey.backlog()).isOne();
        survey.done(second);
        survey.done(second);
        assertThat(survey.backlog()).isZero();
    }

    @Test
    void afterAStartAChangeIsYoungerThanWhatWasArchivedAndNewDocumentsAreAsOldAsTheServer() {
        look(0, 1_100, 500, 700);
        assertThat(survey.oldestMillis()).isEqualTo(500);
        look(1, 1_100, 0);
        look(0, 1_200);
        assertThat(survey.oldestMillis()).isEqualTo(STARTED);
        look(1, 1_200, 0, 400);
        assertThat(survey.oldestMillis()).isEqualTo(STARTED);
    }

    @Test
    void laterAChangeIsYoungerThanTheLookBefore() {
        look(0, 1_100);
        look(0, 2_000, 500);
        assertThat(survey.oldestMillis()).isEqualTo(1_100);
        look(0, 3_000, 500, 2_900);
        assertThat(survey.oldestMillis()).isEqualTo(1_100);
        survey.done(look(0, 4_000, 2_900));
        assertThat(survey.oldestMillis()).isEqualTo(NOTHING);
        look(0, 5_000, 4_500);
        assertThat(survey.oldestMillis()).isEqualTo(4_500);
    }

    @Test
    void slotsThatWereNotHandedOutAreFoundAgainInTurn() {
        assertThat(survey.nextUnfed(0)).isEqualTo(-1);
        survey.unfed(look(0, 1_100, 500));
        survey.unfed(look(2, 1_100, 500));
        assertThat(survey.nextUnfed(1)).isEqualTo(2);
        look(2, 1_200, 500);
        assertThat(survey.nextUnfed(1)).isZero();
    }

    @Test
    void marksAreBelievedWhenEachSlotWasGoneThrough() {
        assertThat(survey.verified()).isTrue();
        survey.distrust(2);
        look(1, 1_100);
        assertThat(survey.verified()).isFalse();
        Place place = look(0, 1_100, 500, 600);
        survey.done(place);
        assertThat(survey.verified()).isFalse();
        survey.done(place);
        assertThat(survey.verified()).isTrue();
    }

    @Test
    void aChangeWaitsForTheNextLookIfAFifthOfItsTimeIsLeftThen() {
        Change archived = new Change(1_000, 500);
        assertThat(archived.mayWait(1_200, 1_399)).isTrue();
        assertThat(archived.mayWait(1_200, 1_400)).isFalse();
        assertThat(new Change(1_000, 100).mayWait(1_000, 1_080))
                .as("at the server's own pace nothing waits")
                .isFalse();
        assertThat(new Change(0, Long.MAX_VALUE / 2).mayWait(1_000, 1_001))
                .as("never archived")
                .isFalse();
        assertThat(new Change(5_000, 1_000_000).mayWait(1_000, 1_001))
                .as("archived in the future")
                .isFalse();
    }

    @Test
    void whatIsToBeDoneSoonestSaysUntilWhenAllMayWait() {
        assertThat(survey.dueMillis()).isEqualTo(NOTHING);
        Place place = lookUntil(1_200, 1_100, new Change(1_050, 10_000), new Change(1_060, 100), new Change(0, 2_000));
        assertThat(survey.dueMillis()).isEqualTo(1_160);
        lookUntil(1_300, 1_200, new Change(0, 300), new Change(200, 10_000));
        assertThat(survey.dueMillis())
                .as("what was not done is due when it was")
                .isEqualTo(1_160);
        survey.done(place);
        assertThat(survey.dueMillis()).isEqualTo(1_160);
        lookUntil(1_400, 1_300);
        lookUntil(1_500, 1_400, new Change(200, 10_000), new Change(300, 500));
        assertThat(survey.dueMillis())
                .as("both have changed since the look before")
                .isEqualTo(1_800);
    }

    @Test
    void whatMayHaveWaitedIsAsOldAsItsLastTimeInTheArchive() {
        lookUntil(11_000, 10_000);
        lookUntil(12_000, 11_000, new Change(4_000, 10_000));
        assertThat(survey.oldestMillis()).isEqualTo(4_000);
        assertThat(survey.dueMillis()).isEqualTo(14_000);
        lookUntil(13_000, 12_000);
        lookUntil(14_000, 13_000, new Change(4_000, 10_000));
        assertThat(survey.oldestMillis())
                .as("it could not have waited any longer, so it has changed since")
                .isEqualTo(12_000);
        assertThat(survey.dueMillis()).isEqualTo(22_000);
    }
}
