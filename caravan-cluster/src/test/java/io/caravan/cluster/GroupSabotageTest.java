package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Breaks this module and runs the test for that fault. It must fail, but pass in an unbroken build that is made in the
 * same way.
 */
final class GroupSabotageTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(GroupSabotage.class)
    void fitsTheSource(GroupSabotage sabotage) throws IOException {
        assertThat(SabotagedBuild.sources(Path.of(""), sabotage.edits())).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(GroupSabotage.class)
    @Tag("thorough")
    void isCaught(GroupSabotage sabotage) throws Exception {
        assertThat(run(sabotage, List.of(), "honest").getFailures()).isEmpty();
        List<TestExecutionSummary.Failure> failures =
                run(sabotage, sabotage.edits(), "sabotaged").getFailures();
        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure.getException()).isInstanceOf(AssertionError.class));
        System.out.println(sabotage + " is caught by "
                + sabotage.test().getSimpleName() + "#" + sabotage.method() + ": "
                + failures.get(0)
                        .getException()
                        .getMessage()
                        .strip()
                        .lines()
                        .findFirst()
                        .orElse(""));
    }

    private TestExecutionSummary run(GroupSabotage sabotage, List<SourceEdit> edits, String name) throws Exception {
        Class<?> test = SabotagedBuild.of(edits, folder.resolve(name))
                .loadClass(sabotage.test().getName());
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectMethod(test, sabotage.method()))
                                .build(),
                        summary);
        assertThat(summary.getSummary().getTestsStartedCount()).isOne();
        return summary.getSummary();
    }
}
