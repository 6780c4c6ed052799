package io.caravan;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Checks the dependencies among the packages of the engine. A package may use only the packages listed for it and,
 * where the table allows it, the public types of {@code io.caravan}. The root package may use everything, because
 * {@code DurableListStore} assembles the parts.
 */
@Tag("slow")
class ArchitectureTest {
    private static final String ROOT = "io.caravan";

    private static final DescribedPredicate<JavaClass> EXCEPTIONS =
            assignableTo(Throwable.class).as("its exceptions");

    private static final DescribedPredicate<JavaClass> EVERYTHING =
            DescribedPredicate.<JavaClass>alwaysTrue().as("everything");

    private static final Map<String, Sees> TABLE = Map.of(
            "collections", new Sees(EXCEPTIONS),
            "format", new Sees(EXCEPTIONS),
            "io", new Sees(EXCEPTIONS),
            "wal", new Sees(EVERYTHING, "format", "io"),
            "heap", new Sees(EVERYTHING, "collections", "format", "io"),
            "index", new Sees(EVERYTHING, "collections", "format", "io"),
            "checkpoint", new Sees(EVERYTHING, "format", "io"),
            "catalog", new Sees(EVERYTHING),
            "engine",
                    new Sees(
                            EVERYTHING, "wal", "heap", "index", "checkpoint", "catalog", "format", "io", "collections"),
            "inspect", new Sees(EVERYTHING, "engine", "wal", "heap", "index", "checkpoint", "catalog", "format", "io"));

    static final List<String> PACKAGES = TABLE.keySet().stream().sorted().toList();

    private static final JavaClasses MAIN_CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @ParameterizedTest
    @FieldSource("PACKAGES")
    void packageUsesOnlyAllowedPackages(String name) {
        check(noClasses()
                .that()
                .resideInAPackage(subpackage(name))
                .should()
                .dependOnClassesThat(oursOutsideOf(name, TABLE.get(name))));
    }

    @Test
    void tableListsEveryPackage() {
        String[] known = PACKAGES.stream().map(ArchitectureTest::subpackage).toArray(String[]::new);
        check(classes()
                .that()
                .resideInAPackage(ROOT + ".*..")
                .should()
                .resideInAnyPackage(known)
                .because("a package that is not in the table sees whatever it likes"));
    }

    @Test
    void onlyIoOpensAndMapsFiles() {
        check(noClasses()
                .that()
                .resideOutsideOfPackage(subpackage("io"))
                .should()
                .dependOnClassesThat(assignableTo(FileChannel.class).or(assignableTo(MappedByteBuffer.class))));
    }

    /** Checks for cycles outside the root package, because it and the engine depend on each other by design. */
    @Test
    void packagesHaveNoCycles() {
        check(slices().matching(ROOT + ".(*)..").should().beFreeOfCycles());
    }

    private static DescribedPredicate<JavaClass> oursOutsideOf(String name, Sees sees) {
        String[] seen =
                sees.packages().stream().map(ArchitectureTest::subpackage).toArray(String[]::new);
        DescribedPredicate<JavaClass> allowed = resideInAPackage(subpackage(name))
                .or(resideInAnyPackage(seen))
                .or(resideInAPackage(ROOT).and(sees.root()));
        return resideInAPackage(ROOT + "..")
                .and(not(allowed))
                .as("classes of ours other than those in " + sees.packages() + " and of the root package "
                        + sees.root());
    }

    private static String subpackage(String name) {
        return ROOT + "." + name + "..";
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(MAIN_CLASSES);
    }

    /** The classes of the root package, and the other packages, that one package may use. */
    private record Sees(DescribedPredicate<JavaClass> root, List<String> packages) {
        Sees(DescribedPredicate<JavaClass> root, String... packages) {
            this(root, List.of(packages));
        }
    }
}
