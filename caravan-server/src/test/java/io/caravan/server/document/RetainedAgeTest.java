package io.caravan.server.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the trimming of values that exceed the maximum age that their space allows. */
class RetainedAgeTest {
    private static final Duration AGE = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @AutoClose
    private final Documents documents = new Documents();

    private void retain(Duration age) {
        documents.set("a/", SpaceSetting.RETAINED_SECONDS, age.toSeconds());
    }

    private void assertFirstSequence(String name, long first) {
        assertThat(documents.found(name).firstSequence()).isEqualTo(first);
    }

    @Test
    void appendTrimsValuesBeyondRetainedAge() {
        retain(AGE);
        documents.push("a/d", "0", "1");
        documents.push("b/d", "0", "1");
        documents.pass(Duration.ofMinutes(30));
        documents.push("a/d", "2");
        documents.pass(Duration.ofMinutes(29));
        documents.push("a/d", "3");
        assertFirstSequence("a/d", 0);
        documents.pass(MINUTE);
        documents.push("a/d", "4");
        assertFirstSequence("a/d", 2);
        documents.push("b/d", "2");
        assertFirstSequence("b/d", 0);
    }

    /** No value may be trimmed early, or late by more than 1/32 of the age plus one pause between writes. */
    @Test
    void valuesAreTrimmedNeitherEarlyNorMuchLate() {
        retain(AGE);
        Random random = new Random(3);
        Deque<Long> times = new ArrayDeque<>();
        long next = 0;
        for (int i = 0; i < 3_000; i++) {
            documents.pass(Duration.ofSeconds(random.nextInt(random.nextInt(10) == 0 ? 1_000 : 20)));
            documents.push("a/d", "v");
            times.add(documents.nowMillis());
            next++;
            if (random.nextInt(200) == 0) {
                documents.reopen();
            }
            long first = documents.found("a/d").firstSequence();
            while (times.size() > next - first) {
                assertThat(documents.nowMillis() - times.remove()).isGreaterThanOrEqualTo(AGE.toMillis());
            }
            assertThat(documents.nowMillis() - times.element())
                    .as("age of the oldest")
                    .isLessThanOrEqualTo(AGE.toMillis() + AGE.toMillis() / 32 + 1_000_000);
        }
        assertThat(documents.found("a/d").attributes().ages().encode().length).isLessThan(40 * 2 * Long.BYTES);
    }

    /** The sweeper must trim documents that get no more writes, including values written before the age was set. */
    @Test
    void sweeperTrimsIdleDocuments() {
        documents.push("a/before", "0");
        retain(AGE);
        documents.push("a/d", "0");
        documents.pass(Duration.ofSeconds(1));
        documents.push("a/d", "1");
        documents.pass(Duration.ofMinutes(5));
        Eventually.await(
                "the sweeper has noted that all are there",
                () -> documents.found("a/d").attributes().ages().thereAt(documents.nowMillis()) == 2
                        && documents.found("a/before").attributes().ages().thereAt(documents.nowMillis()) == 1);
        documents.pass(AGE);
        Eventually.await(
                "the values are trimmed",
                () -> documents.found("a/d").firstSequence() == 2
                        && documents.found("a/before").firstSequence() == 1);
    }

    /**
     * Lets time pass and the wall clock jump ahead, or back if {@code jump} is negative. Then appends a value, and
     * returns the first sequence that the document retains.
     */
    private long appendAfter(Duration passed, Duration jump) {
        documents.pass(passed);
        documents.setClock(jump);
        documents.push("a/d", "v");
        return documents.found("a/d").firstSequence();
    }

    private long appendAfter(Duration passed) {
        return appendAfter(passed, Duration.ZERO);
    }

    /** Values may be trimmed late after the clock is set back, but by no more than the clock was ahead. */
    @Test
    void trimsValuesLateAfterClockIsSetBack() {
        retain(AGE);
        appendAfter(Duration.ZERO);
        appendAfter(Duration.ZERO, Duration.ofHours(-10));
        assertThat(appendAfter(AGE.multipliedBy(10))).isZero();
        assertThat(appendAfter(AGE)).isEqualTo(1);
        assertThat(appendAfter(AGE)).isBetween(3L, 4L);
    }

    @Test
    void trimsNoValueEarlyWhenClockIsSetBackForMoment() {
        retain(AGE);
        appendAfter(Duration.ZERO);
        appendAfter(Duration.ZERO, Duration.ofHours(-2));
        assertThat(appendAfter(MINUTE, Duration.ofHours(2))).isZero();
    }

    /** Values from before and after a jump of the clock must be trimmed when they have reached the age, not earlier. */
    @Test
    void trimsNoValueEarlyWhenClockJumpsAhead() {
        retain(AGE);
        appendAfter(Duration.ZERO);
        assertThat(appendAfter(MINUTE, Duration.ofDays(10))).isZero();
        assertThat(appendAfter(Duration.ofMinutes(58))).isZero();
        assertThat(appendAfter(MINUTE)).isEqualTo(1);
        assertThat(appendAfter(MINUTE)).isEqualTo(2);
    }

    @Test
    void trimsNoValueEarlyWhenClockIsSetBackAndCorrected() {
        retain(AGE);
        appendAfter(Duration.ZERO, Duration.ofHours(-2));
        assertThat(appendAfter(MINUTE, Duration.ofHours(2))).isZero();
    }

    /** A jump must not be subtracted again when the clock jumps again much later. */
    @Test
    void subtractsEachJumpForOneAgeOnly() {
        retain(AGE);
        appendAfter(Duration.ZERO);
        appendAfter(Duration.ZERO, Duration.ofDays(10));
        assertThat(appendAfter(AGE.multipliedBy(3))).isEqualTo(2);
        assertThat(appendAfter(AGE.multipliedBy(5), Duration.ofSeconds(2))).isEqualTo(3);
    }
}
