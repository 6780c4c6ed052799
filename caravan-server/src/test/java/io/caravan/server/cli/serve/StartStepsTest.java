package io.caravan.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.serve.ServeCommand.StartSteps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a slow server startup logs its steps, and that a fast one logs nothing. */
class StartStepsTest {
    private final List<Runnable> delayed = new ArrayList<>();
    private final List<String> logged = new ArrayList<>();
    private final StartSteps steps = new StartSteps("opens", delayed::add, logged::add);

    private void delayEnds() {
        delayed.forEach(Runnable::run);
    }

    @Test
    void slowStartLogsCurrentAndLaterSteps() {
        steps.next("warms up");
        assertThat(logged).isEmpty();
        delayEnds();
        assertThat(logged).containsExactly("warms up");
        steps.next("serves");
        assertThat(logged).containsExactly("warms up", "serves");
        steps.end();
        assertThat(logged).hasSize(2);
    }

    @Test
    void finishedStartLogsNothing() {
        steps.end();
        delayEnds();
        assertThat(logged).isEmpty();
    }
}
