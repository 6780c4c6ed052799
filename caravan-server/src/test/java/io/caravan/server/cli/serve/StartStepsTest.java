package io.caravan.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.serve.ServeCommand.StartSteps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A slow start logs its steps, and any other start logs nothing. */
class StartStepsTest {
    private final List<Runnable> delayed = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final StartSteps steps = new StartSteps("opens", delayed::add, told::add);

    private void delayEnds() {
        delayed.forEach(Runnable::run);
    }

    @Test
    void aSlowStartTellsWhatItDoesAndEachLaterStep() {
        steps.next("warms up");
        assertThat(told).isEmpty();
        delayEnds();
        assertThat(told).containsExactly("warms up");
        steps.next("serves");
        assertThat(told).containsExactly("warms up", "serves");
        steps.end();
        assertThat(told).hasSize(2);
    }

    @Test
    void aStartThatIsOverTellsNothing() {
        steps.end();
        delayEnds();
        assertThat(told).isEmpty();
    }
}
