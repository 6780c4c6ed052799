package io.caravan.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A child JVM that inherits this one's class path. */
public final class ChildJvm extends ChildProcess {
    /** A child lives for seconds, so startup time matters more than peak speed. A server is not warmed up. */
    public static final List<String> FLAGS = List.of(
            "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dcaravan.warm-up=false");

    private ChildJvm(List<String> command, Map<String, String> environment, Path log) throws IOException {
        super(command, environment, log);
    }

    /** Starts a JVM on a main class; its output is added to {@code log}. */
    public static ChildJvm start(String mainClass, List<String> arguments, Path log) throws IOException {
        return start(mainClass, arguments, Map.of(), log);
    }

    /**
     * Starts a JVM on a main class; its output is added to {@code log}.
     *
     * @param environment variables in addition to those of this program
     */
    public static ChildJvm start(String mainClass, List<String> arguments, Map<String, String> environment, Path log)
            throws IOException {
        return start(FLAGS, mainClass, arguments, environment, log);
    }

    /** The same with the given flags; a measured JVM gets none. */
    public static ChildJvm start(
            List<String> flags, String mainClass, List<String> arguments, Map<String, String> environment, Path log)
            throws IOException {
        return new ChildJvm(command(flags, mainClass, arguments), environment, log);
    }

    /** The java executable that runs this JVM. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The command line of such a JVM, with the given flags, and this one's class path unless they have another. */
    public static List<String> command(List<String> flags, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(java(), "-cp", System.getProperty("java.class.path")));
        command.addAll(openModules());
        command.addAll(flags);
        command.add(mainClass);
        command.addAll(arguments);
        return command;
    }

    /** The flags that open JDK modules to this JVM; a child needs the same. */
    private static List<String> openModules() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-"))
                .toList();
    }
}
