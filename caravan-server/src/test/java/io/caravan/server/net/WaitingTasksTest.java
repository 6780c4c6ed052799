package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingTasksTest {
    private final WaitingTasks tasks = new WaitingTasks();
    private final List<String> ran = new ArrayList<>();

    @Test
    void taskRunsOnce() {
        Runnable task = tasks.add(() -> ran.add("a"));
        tasks.add(() -> ran.add("b")).run();
        task.run();
        task.run();
        assertThat(ran).containsExactly("b", "a");
    }

    @Test
    void taskCanAddAnotherTask() {
        tasks.add(() -> tasks.add(() -> ran.add("next")).run()).run();
        assertThat(ran).containsExactly("next");
    }

    @Test
    void runsNoTaskAfterClose() {
        Runnable before = tasks.add(() -> ran.add("before"));
        tasks.close();
        before.run();
        tasks.add(() -> ran.add("after")).run();
        assertThat(ran).isEmpty();
    }
}
