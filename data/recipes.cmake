# recipes.cmake - puts the text of data/recipes/*.recipe into the library as the table builtin_recipes, so that nothing has
# to be found at run time. Included by CMakeLists.txt after the library.
set(table "")
foreach(name table1 table2 depth grid remedies)
    set(from ${PROJECT_SOURCE_DIR}/data/recipes/${name}.recipe)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from})
    file(READ ${from} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND table "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/recipes.c @ONLY CONTENT
"/* made from data/recipes by data/recipes.cmake */
#include \"sweep/recipe.h\"
const builtin_recipe builtin_recipes[] = {
@table@    {NULL, NULL},
};
")
target_sources(fathom PRIVATE ${PROJECT_BINARY_DIR}/embedded/recipes.c)
