package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PipelineTest {
    private final List<String> results = new ArrayList<>();

    @Test
    void deliversResultsInSubmissionOrder() {
        CompletableFuture<String> late = new CompletableFuture<>();
        try (Pipeline<String> pipeline = new Pipeline<>(2, true, results::add)) {
            pipeline.submit(late::join);
            pipeline.submit(() -> {
                late.complete("first");
                return "second";
            });
            pipeline.finish();
        }
        assertThat(results).containsExactly("first", "second");
    }

    /** A slow task must not delay the results of later tasks, even if their number exceeds the concurrency limit. */
    @Test
    void slowTaskDelaysNoOtherResult() {
        CompletableFuture<String> late = new CompletableFuture<>();
        try (Pipeline<String> pipeline = new Pipeline<>(2, false, results::add)) {
            pipeline.submit(late::join);
            for (int i = 0; i < 50; i++) {
                pipeline.submit(() -> "soon");
            }
            assertThat(results).hasSizeGreaterThanOrEqualTo(35).containsOnly("soon");
            late.complete("late");
            pipeline.finish();
        }
        assertThat(results).hasSize(51).contains("late");
    }

    @Test
    void finishThrowsTaskException() {
        try (Pipeline<String> pipeline = new Pipeline<>(1, false, results::add)) {
            pipeline.submit(() -> {
                throw new IllegalStateException("failed");
            });
            assertThatThrownBy(pipeline::finish).hasMessage("failed");
            pipeline.submit(() -> {
                throw new AssertionError("broken");
            });
            assertThatThrownBy(pipeline::finish).hasMessage("broken");
        }
    }
}
