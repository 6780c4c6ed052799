package io.caravan.bench.torture;

import io.caravan.testing.simulator.SabotagedBuild;
import java.lang.reflect.Method;
import java.nio.file.Path;

/** A host of a group whose classes are sabotaged, as compiled beside the group's directory. */
final class SabotagedHost {
    static final String BUILD = "sabotaged-build";

    private SabotagedHost() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Path build = Path.of(arguments[0]).resolveSibling(BUILD);
        Method main =
                SabotagedBuild.in(build).loadClass(GroupHost.class.getName()).getMethod("main", String[].class);
        main.setAccessible(true);
        main.invoke(null, (Object) arguments);
    }
}
