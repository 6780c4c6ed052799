package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.push.Survey.Place;
import org.junit.jupiter.api.Test;

class SurveyTest {
    private static final long STARTED = 1_000;
    private static final long NOTHING = Long.MAX_VALUE;

    private final Survey survey = new Survey(3, STARTED);

    private Place look(int slot, long nowMillis, long... lastArchivedMillis) {
        return survey.visited(slot, nowMillis, survey.unverified(slot), lastArchivedMillis);
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
}
