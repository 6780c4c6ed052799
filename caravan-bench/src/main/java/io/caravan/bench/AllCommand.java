package io.caravan.bench;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.ReportPage;
import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code scripts/bench all}: runs every suite in its own JVM, so that the suites do not affect each other. */
@Command(
        name = "all",
        mixinStandardHelpOptions = true,
        description = {
            "Runs all suites one after another and combines their tables and pictures in one report.html.",
            "Takes about half an hour, during which the machine should be otherwise idle; with --quick, a minute or two."
        })
final class AllCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "only these suites; default: all of them")
    private List<String> names = new ArrayList<>(ReportPage.SUITES);

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (String name : names) {
            course.check(
                    ReportPage.SUITES.contains(name),
                    "no suite is called " + name + "; the suites are " + ReportPage.SUITES);
        }
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            System.err.println("== suite " + (i + 1) + " of " + names.size() + ": " + names.get(i));
            if (run(names.get(i)) != 0) {
                failed.add(names.get(i));
            }
        }
        if (!failed.isEmpty()) {
            System.err.println("these suites failed; see above: " + String.join(", ", failed));
            return 1;
        }
        System.err.println("the report is " + out().resolve("report.html").toAbsolutePath());
        return 0;
    }

    private int run(String name) throws IOException, InterruptedException {
        Process suite = new ProcessBuilder(command(name)).inheritIO().start();
        Thread hook = new Thread(suite::destroy, "end-suite");
        Runtime.getRuntime().addShutdownHook(hook);
        int status = suite.waitFor();
        Runtime.getRuntime().removeShutdownHook(hook);
        return status;
    }

    private List<String> command(String name) {
        List<String> command = new ArrayList<>();
        command.add(ChildJvm.java());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), name));
        command.addAll(course.arguments());
        command.addAll(List.of("--out", out().toString()));
        return command;
    }

    private Path out() {
        return course.out() == null ? Path.of("bench-report") : course.out();
    }
}
